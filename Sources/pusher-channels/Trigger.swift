import ArgumentParser
import PusherChannels

struct Trigger: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Publish an event through the HTTP API.")

    @Argument(help: "The channel.")
    var channel: String

    @Argument(help: "The event's name.")
    var event: String

    @Argument(help: "The event's data, passed on as it is.")
    var data: String

    @OptionGroup var server: ServerOptions

    @Option(help: "The app's id; $PUSHER_APP_ID.")
    var appID = ServerOptions.variable("APP_ID") ?? "1"

    @Option(help: "The app's secret; better in $PUSHER_APP_SECRET, where other users don't see it.")
    var secret = ServerOptions.variable("APP_SECRET") ?? "local-secret"

    func run() async throws {
        let api = PusherHTTPAPI(
            appID: appID, key: server.key, secret: secret, host: .host(server.host), port: server.port, useTLS: server.tls)
        try await api.trigger(channels: [channel], eventName: event, data: data)
    }
}
