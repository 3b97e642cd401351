import ArgumentParser
import TestSupport

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a local Channels server until SIGINT or SIGTERM.",
        discussion: "WebSocket on /app/KEY, authorisation on POST /pusher/auth, the HTTP API on /apps/ID.")

    @Option(help: "The port to listen on; 0 takes a free one.")
    var port = 6001

    @Option(help: "The app's id.")
    var appID = "local"

    @Option(help: "The app's key.")
    var key = "local-key"

    @Option(help: "The app's secret.")
    var secret = "local-secret"

    func run() async throws {
        let settings = LocalServer.Settings(onEvent: { event in note("\(event)") })
        let app = ServerApp(id: appID, key: key, secret: secret)
        let server = try await LocalServer.start(port: port, apps: [app], settings: settings)
        output("listening on \(server.url)")
        await interruption()
        note("stopping")
        await server.stop()
    }
}
