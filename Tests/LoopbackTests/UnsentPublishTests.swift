#if os(Linux)
import Foundation
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// Publishes that never reached a server: they weren't carried out, and are repeated if that may help.
@Suite struct UnsentPublishTests {
    private let log = HTTPLog()

    private func api(
        _ session: any HTTPSession, port: Int, useTLS: Bool = false, timeout: Duration = .seconds(86_400), attempts: Int = 1
    ) -> PusherHTTPAPI {
        PusherHTTPAPI(
            appID: "1", key: "key", secret: "secret", host: .host("127.0.0.1"), port: port, useTLS: useTLS,
            options: PusherHTTPAPIOptions(
                timeout: timeout, retryPolicy: RetryPolicy(maximumAttempts: attempts, initialDelay: .zero)),
            environment: PusherEnvironment(httpSession: session))
    }

    private func failure(of api: PusherHTTPAPI) async -> PusherError? {
        await #expect(throws: PusherError.self) { try await api.trigger(channels: ["a"], eventName: "e", data: "1") }
    }

    // Proves P15.11.
    @Test func whatFoundNoConnectionFreeWasNotSent() async throws {
        let asked = Note<Void>()
        let server = try RawServer { connection in
            _ = try connection.readRequest()
            asked.send(())
            _ = connection.readRest()
        }
        let session = HTTPRig().session
        try await withWatchdog {
            let others = (1...ConnectionPool.limit).map { _ in Task { try await api(session, port: server.port).channels() } }
            for _ in others { await asked.next() }
            let error = await failure(of: api(session, port: server.port, timeout: .milliseconds(100)))
            #expect(error?.kind == .httpAPI(.unreachable))
            #expect(error?.isRetryable == true)
            #expect(error?.message.contains("carried out") == false, "\(error?.message ?? "")")
            for other in others { other.cancel() }
        }
    }

    // Proves P15.11.
    @Test func whatFoundNoServerInTimeWasNotSent() async throws {
        let session = NetworkHTTPSession(proxy: .none, loop: .patient, resolve: { _, _ in {} })
        try await withWatchdog {
            let error = await failure(of: api(session, port: 80, timeout: .milliseconds(100)))
            #expect(error?.kind == .httpAPI(.unreachable), "\(error?.message ?? "")")
            #expect(error?.isRetryable == true)
        }
    }

    /// A load balancer that is being restarted hangs up like this.
    // Proves P15.12.
    @Test func aServerThatHangsUpInTheHandshakeIsAskedAgain() async throws {
        let server = try RawServer { [log] _ in _ = log.connected() }
        try await withWatchdog {
            let error = await failure(of: api(HTTPRig().session, port: server.port, useTLS: true, attempts: 3))
            #expect(error?.kind == .httpAPI(.unreachable), "\(error?.message ?? "")")
            #expect(error?.isRetryable == true)
            #expect(log.connections == 3)
        }
    }

    /// A retry doesn't help if somebody has to change something first.
    // Proves P15.12.
    @Test(arguments: [("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n", false), ("HTTP/1.1 503 No\r\n\r\n", true), ("", true)])
    func aProxyThatSaysNoIsAskedAgainWhereThatMayHelp(response: String, isRepeated: Bool) async throws {
        let proxy = try RawServer { [log] connection in
            _ = try connection.readRequest()
            _ = log.connected()
            try connection.send(response)
        }
        let session = NetworkHTTPSession(proxy: .http(.init(host: "127.0.0.1", port: proxy.port)), loop: .patient)
        try await withWatchdog {
            let error = await failure(of: api(session, port: 443, useTLS: true, attempts: 3))
            #expect(error?.kind == .httpAPI(.unreachable), "\(error?.message ?? "")")
            #expect(error?.isRetryable == isRepeated, "\(error?.message ?? "")")
            #expect(log.connections == (isRepeated ? 3 : 1))
        }
    }
}
#endif
