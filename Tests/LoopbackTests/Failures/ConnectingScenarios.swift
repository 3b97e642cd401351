#if os(Linux)
import Glibc
@testable import PusherChannels
import TestSupport

extension FailureScenario {
    static let connecting = [
        FailureScenario("The host's name has no address") {
            try await failure(of: request(port: 80, host: "nobody.invalid"), ports: [80: 443]) {
                AddressResolver.shared.resolve($0, completion: $1)
            }
        },
        FailureScenario("The name server doesn't answer") {
            try await failure(of: request(port: 80), ports: [80: 443], timeouts: impatient) { _, _ in {} }
        },
        FailureScenario("Nobody listens on the port") {
            let (port, descriptor) = try RawServer.refusingPort()
            defer { close(descriptor) }
            return try await failure(of: request(port: port), ports: [port: 443])
        },
        FailureScenario("Nobody listens at any of the host's addresses") {
            let (port, descriptor) = try RawServer.refusingPort()
            defer { close(descriptor) }
            return try await failure(
                of: request(port: port), ports: [port: 443], resolve: resolving(to: ["127.0.0.2", "127.0.0.1"]))
        },
        FailureScenario("The host doesn't accept the connection") {
            let full = try FullListener()
            defer { withExtendedLifetime(full) {} }
            return try await failure(of: request(port: full.port), ports: [full.port: 443], timeouts: impatient)
        },
        FailureScenario("There is no way to the address") {
            // The broadcast address, which TCP doesn't support.
            try await failure(of: request(port: 80), ports: [80: 443], resolve: resolving(to: ["255.255.255.255"]))
        },
    ]

    static func request(port: Int, host: String = "ws.example", secure: Bool = false) -> WebSocketRequest {
        WebSocketRequest(secure: secure, host: host, port: port, path: "/", proxy: .none)
    }
}
#endif
