#if os(Linux)
import PusherChannels

/// The snippets of "Connections in production", word for word; `ci/checks/snippets` compares them. Compiled only: they would call
/// servers.
enum ProductionPageTests {
    static func tls() {
        let options = PusherClientOptions(
            host: .host("ws.internal.example"),
            tls: TLSConfiguration(
                roots: .only(.file("/etc/app/authority.pem")),
                identity: TLSConfiguration.Identity(
                    certificateChain: .file("/etc/app/tls.crt"), privateKey: .file("/etc/app/tls.key")),
                minimumVersion: .tls13))
        _ = options
    }

    static func proxy() {
        let options = PusherClientOptions(
            host: .cluster("eu"),
            proxy: .http(
                HTTPProxy(
                    host: "proxy.example", port: 3128,
                    credentials: HTTPProxy.Credentials(user: "service", password: "from your secrets"))))
        _ = options
    }

    static func loops() {
        let loops = (0..<4).map { _ in NetworkLoop() }
        let environment = PusherEnvironment(makeWebSocket: { NetworkWebSocket(loop: loops.randomElement() ?? .shared) })
        let pusher = Pusher(key: "app-key", environment: environment)
        _ = pusher
    }
}
#endif
