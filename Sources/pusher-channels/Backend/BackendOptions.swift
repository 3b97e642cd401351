import ArgumentParser
import Foundation
import PusherChannels

/// The app whose backend a command plays: its secret never needs to stand on a command line, where other users see it.
struct AppOptions: ParsableArguments {
    @Option(help: "The app's id; $PUSHER_APP_ID.")
    var appID = ServerOptions.variable("APP_ID") ?? "1"

    @Option(help: "The app's secret; better in $PUSHER_SECRET, where other users don't see it.")
    var secret = ServerOptions.variable("SECRET") ?? "local-secret"

    @Option(
        name: .customLong("encryption-master-key"),
        help: "The app's encryption master key, 32 bytes in base64; better in $PUSHER_ENCRYPTION_MASTER_KEY.")
    var givenMasterKey: String?

    private var encryptionMasterKey: String? { givenMasterKey ?? ServerOptions.variable("ENCRYPTION_MASTER_KEY") }

    func validate() throws {
        // Not repeating what was given: it may be most of a key.
        if let key = encryptionMasterKey, (try? EncryptionMasterKey(base64: key)) == nil {
            throw ValidationError("--encryption-master-key takes 32 bytes in base64")
        }
    }

    var masterKeys: [EncryptionMasterKey] {
        encryptionMasterKey.flatMap { try? EncryptionMasterKey(base64: $0) }.map { [$0] } ?? []
    }
}

/// The options of commands that ask an app's HTTP API.
struct BackendOptions: ParsableArguments {
    @OptionGroup var server: ServerOptions
    @OptionGroup var app: AppOptions
    @OptionGroup var route: RouteOptions

    var api: PusherHTTPAPI {
        let session = DefaultTransport.httpSession
        let routed = (session as? any RoutedHTTPSession)?.routed(tls: route.tls, proxy: route.proxyConfiguration)
        return PusherHTTPAPI(
            appID: app.appID, key: server.key, secret: app.secret, host: server.location, port: server.portToUse,
            useTLS: server.usesTLS, options: PusherHTTPAPIOptions(encryptionMasterKeys: app.masterKeys),
            environment: PusherEnvironment(httpSession: routed ?? session))
    }
}
