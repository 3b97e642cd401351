import ArgumentParser
import Foundation
import Logging
import PusherChannels
import TestSupport

/// The app whose backend a command plays. Its secret never needs to be on a command line, where other users see it.
struct AppOptions: ParsableArguments {
    @Option(name: .customLong("app-id"), help: "The app's id; $PUSHER_APP_ID, by default 1.")
    var givenID: String?

    @Option(
        name: .customLong("secret"),
        help: """
            The app's secret, by default that of serve's app with its key; safer in $PUSHER_SECRET or the configuration file, where \
            other users don't see it.
            """)
    var givenSecret: String?

    @Option(
        name: .customLong("encryption-master-key"),
        help: """
            The app's encryption master key, 32 bytes in base64, by default that of serve's app with its secret; safer in \
            $PUSHER_ENCRYPTION_MASTER_KEY or the file.
            """)
    var givenMasterKey: String?

    func id(_ settings: Settings) -> String { givenID ?? settings[.appID] ?? "1" }

    /// Returns the app's secret. Everybody knows that of `serve`'s app, so it is no default for another app: it would let forged
    /// webhooks pass.
    func secret(_ configuration: SettingsOptions) throws -> String {
        guard let secret = givenSecret ?? configuration.settings[.secret] ?? configuration.localApp?.secret else {
            throw ValidationError(
                "the key \(configuration.key.onOneLine) isn't that of serve's app: give its secret by --secret, safer in $PUSHER_SECRET"
            )
        }
        return secret
    }

    /// Returns the key of encrypted channels, in a list as the libraries want it; empty if there is none.
    func masterKeys(_ configuration: SettingsOptions) throws -> [EncryptionMasterKey] {
        guard let text = try masterKeyText(configuration) else { return [] }
        try Setting.encryptionMasterKey.validate(text, isOption: givenMasterKey != nil)
        return [try EncryptionMasterKey(base64: text)]
    }

    /// Returns that key as it was given.
    func masterKeyText(_ configuration: SettingsOptions) throws -> String? {
        let localKey = try secret(configuration) == ServerApp.local.secret ? ServerApp.local.encryptionMasterKey : nil
        return givenMasterKey ?? configuration.settings[.encryptionMasterKey] ?? localKey
    }
}

/// The options of commands that call an app's HTTP API.
struct BackendOptions: ParsableArguments {
    @OptionGroup var server: ServerOptions
    @OptionGroup var app: AppOptions
    @OptionGroup var route: RouteOptions

    @Option(help: "A path prefix in front of the HTTP API's path.")
    var path: String?

    @Option(
        name: .customLong("timeout"),
        help: """
            The longest wait for a response, in seconds; $PUSHER_TIMEOUT, by default 15. Requests that may safely be repeated are \
            tried up to three times, with this limit each time.
            """)
    var givenTimeout: String?

    func validate() throws {
        _ = try app.masterKeys(server.configuration)
        try server.validateVariables(in: server.settings)
        if let timeout = givenTimeout ?? server.settings[.timeout] {
            try Setting.timeout.validate(timeout, isOption: givenTimeout != nil)
        }
    }

    func makeAPI() throws -> PusherHTTPAPI {
        let settings = server.settings
        let session = DefaultTransport.httpSession
        let routed = (session as? any RoutedHTTPSession)?.routed(tls: route.tls, proxy: route.proxyConfiguration)
        var options = PusherHTTPAPIOptions(path: path, encryptionMasterKeys: try app.masterKeys(server.configuration))
        // The command prints the error itself.
        options.logger = Logger(label: "pusher-channels") { _ in SwiftLogNoOpLogHandler() }
        if let timeout = (givenTimeout ?? settings[.timeout]).flatMap(Setting.seconds) { options.timeout = timeout }
        return PusherHTTPAPI(
            appID: app.id(settings), key: server.key, secret: try app.secret(server.configuration), host: server.location,
            port: server.portToUse, useTLS: server.usesTLS, options: options,
            environment: PusherEnvironment(httpSession: routed ?? session))
    }
}
