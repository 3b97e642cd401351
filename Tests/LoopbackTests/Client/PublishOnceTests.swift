#if os(Linux)
import Foundation
import Processes
@testable import PusherChannels
import Testing
@testable import TestSupport

/// Publishes over real connections that end at the worst time: how often they are sent, and what their error says.
@Suite(.watchdog) struct PublishOnceTests {
    private let log = HTTPLog()

    /// Publishes an event that must fail, and returns the error.
    private func failure(
        _ session: any HTTPSession = HTTPRig().session, port: Int, useTLS: Bool = false, timeout: Duration = .seconds(86_400),
        attempts: Int = 3
    ) async -> PusherError? {
        let api = api(session, port: port, useTLS: useTLS, timeout: timeout, attempts: attempts)
        return await #expect(throws: PusherError.self) { try await api.trigger(channels: ["a"], eventName: "e", data: "2") }
    }

    private func api(
        _ session: any HTTPSession, port: Int, useTLS: Bool = false, timeout: Duration = .seconds(86_400), attempts: Int = 3
    ) -> PusherHTTPAPI {
        let policy = RetryPolicy(maximumAttempts: attempts, initialDelay: .zero)
        return PusherHTTPAPI(
            appID: "1", key: "key", secret: "secret", host: .host("127.0.0.1"), port: port, useTLS: useTLS,
            options: PusherHTTPAPIOptions(timeout: timeout, retryPolicy: policy),
            environment: PusherEnvironment(httpSession: session))
    }

    private func calls() -> [String] { log.requests.map { $0.replacing(#/\?\S*/#, with: "") } }

    // MARK: After the server has read the request

    /// Tested on a new connection, and on one that was kept.
    // Proves P15.11, P15.12.
    @Test(arguments: [0, 1, 2], [false, true])
    func `A publish whose response is lost is sent once, and fails as possibly carried out`(before count: Int, isReset: Bool)
        async throws
    {
        let server = try RawServer(log: log, resets: isReset) { [log] _, _ in log.requests.count <= count ? okay("{}") : nil }
        let session = HTTPRig().session
        for _ in 0..<count { try await api(session, port: server.port).trigger(channels: ["a"], eventName: "e", data: "1") }
        let error = await failure(session, port: server.port)
        #expect(error?.kind == .httpAPI(.noResponse))
        #expect(error?.message.hasSuffix("; the request may have been carried out") == true, "\(error?.message ?? "")")
        #expect(calls() == Array(repeating: "/apps/1/events #1", count: count + 1))
    }

    /// Bytes that aren't a TLS record, as a broken middlebox sends them, end TLS after the server has read the request.
    // Proves P15.12.
    @Test func `A TLS failure after a publish was read counts as a lost response, and nothing is repeated`() async throws {
        let server = try RawServer.leavingTLS(after: #""name":"e""#) { [log] in log.requested($0, on: log.connected()) }
        let tls = TLSConfiguration(verification: .insecureAcceptAnyCertificate)
        let session = NetworkHTTPSession(tls: tls, proxy: .none, loop: .patient)
        let error = await failure(session, port: server.port, useTLS: true)
        #expect(error?.kind == .httpAPI(.noResponse), "\(error?.message ?? "")")
        #expect(calls() == ["/apps/1/events #1"])
    }

    // MARK: Before the request reached a server

    private func expectUnsent(_ error: PusherError?, isRetryable: Bool = true, sourceLocation: SourceLocation = #_sourceLocation)
    {
        let message = error?.message ?? ""
        #expect(error?.kind == .httpAPI(.unreachable), "\(message)", sourceLocation: sourceLocation)
        #expect(error?.isRetryable == isRetryable, "\(message)", sourceLocation: sourceLocation)
        #expect(!message.contains("carried out"), "\(message)", sourceLocation: sourceLocation)
    }

    // Proves P15.11.
    @Test func `A publish that finds no free connection in time fails as unsent, and may be retried`() async throws {
        let asked = Note<Void>()
        let server = try RawServer { connection in
            _ = try connection.readRequest()
            asked.send(())
            _ = connection.readRest()
        }
        let session = HTTPRig().session
        let others = (1...ConnectionPool.limit).map { _ in Task { try await api(session, port: server.port).channels() } }
        for _ in others { await asked.next() }
        expectUnsent(await failure(session, port: server.port, timeout: .milliseconds(100), attempts: 1))
        for other in others { other.cancel() }
    }

    // Proves P15.11.
    @Test func `A publish whose host's address isn't found in time fails as unsent, and may be retried`() async throws {
        let session = NetworkHTTPSession(proxy: .none, loop: .patient, resolve: { _, _ in {} })
        expectUnsent(await failure(session, port: 80, timeout: .milliseconds(100), attempts: 1))
    }

    /// A load balancer that is being restarted hangs up like this.
    // Proves P15.12.
    @Test func `A publish is repeated if the server hangs up during the TLS handshake`() async throws {
        let server = try RawServer { [log] _ in _ = log.connected() }
        expectUnsent(await failure(port: server.port, useTLS: true))
        #expect(log.connections == 3)
    }

    /// A retry doesn't help if somebody has to change something first.
    // Proves P15.12.
    @Test(arguments: [("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n", false), ("HTTP/1.1 503 No\r\n\r\n", true), ("", true)])
    func `A publish that a proxy refuses is repeated only if a repetition may help`(response: String, isRepeated: Bool)
        async throws
    {
        let proxy = try RawServer { [log] connection in
            _ = try connection.readRequest()
            _ = log.connected()
            try connection.send(response)
        }
        let session = NetworkHTTPSession(proxy: .http(.init(host: "127.0.0.1", port: proxy.port)), loop: .patient)
        expectUnsent(await failure(session, port: 443, useTLS: true), isRetryable: isRepeated)
        #expect(log.connections == (isRepeated ? 3 : 1))
    }
}
#endif
