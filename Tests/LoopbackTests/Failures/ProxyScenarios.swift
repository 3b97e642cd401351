#if os(Linux)
import Glibc
@testable import PusherChannels
import TestSupport

extension FailureScenario {
    static let proxies = [
        FailureScenario("The proxy's name has no address") {
            var request = Self.request(port: 443, secure: true)
            request.proxy = .http(HTTPProxy(host: "nobody.invalid", port: 3128))
            return try await failure(of: request) { AddressResolver.shared.resolve($0, completion: $1) }
        },
        FailureScenario("Nobody listens on the proxy's port") {
            let (port, descriptor) = try RawServer.refusingPort()
            defer { close(descriptor) }
            return try await failure(of: through(port), ports: [port: 3128])
        },
        FailureScenario("The proxy wants credentials") {
            try await refused(credentials: ConnectProxy.Credentials(user: "ann", password: "x"))
        },
        FailureScenario("The proxy doesn't take the credentials") {
            try await refused(
                credentials: ConnectProxy.Credentials(user: "ann", password: "x"),
                showing: HTTPProxy.Credentials(user: "ann", password: "wrong"))
        },
        FailureScenario("The proxy doesn't let anybody go there") { try await refused(.refused(status: 403)) },
        FailureScenario("The proxy can't reach the server") { try await refused(.refused(status: 502)) },
        FailureScenario("The proxy isn't an HTTP proxy") { try await refused(.garbage(Array("SSH-2.0-OpenSSH_9.2\r\n".utf8))) },
        FailureScenario("The proxy's response doesn't end") { try await refused(.endlessHeader) },
        FailureScenario("The proxy sends more than its response") {
            try await refused(.establishedFollowed(by: Array("hello".utf8)))
        },
        FailureScenario("The proxy doesn't respond") { try await refused(.silence, timeouts: impatient) },
        FailureScenario("The proxy hangs up") { try await refused(.closed) },
        FailureScenario("The server behind the proxy is not the one it should be") {
            let server = try RawServer.replying(tls: .throwaway)
            let proxy = try ConnectProxy(to: server.port)
            defer { withExtendedLifetime((server, proxy)) {} }
            return try await failure(of: through(proxy.port), ports: [proxy.port: 3128])
        },
    ]

    /// Returns a request to a server that only the proxy knows.
    private static func through(_ port: Int, showing credentials: HTTPProxy.Credentials? = nil) -> WebSocketRequest {
        var request = request(port: 443, secure: true)
        request.proxy = .http(HTTPProxy(host: "127.0.0.1", port: port, credentials: credentials))
        return request
    }

    private static func refused(
        _ reply: ConnectProxy.Reply = .established(), credentials: ConnectProxy.Credentials? = nil,
        showing shown: HTTPProxy.Credentials? = nil, timeouts: NetworkTimeouts = .long
    ) async throws -> FailureReport {
        let server = try RawServer.replying()
        let proxy = try ConnectProxy(to: server.port, credentials: credentials, reply: reply)
        defer { withExtendedLifetime((server, proxy)) {} }
        return try await failure(of: through(proxy.port, showing: shown), ports: [proxy.port: 3128], timeouts: timeouts)
    }
}
#endif
