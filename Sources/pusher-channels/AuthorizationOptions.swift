import ArgumentParser
import Foundation
import Logging
import PusherChannels
import TestSupport

/// The options of commands that subscribe to channels.
struct ClientOptions: ParsableArguments {
    @OptionGroup var server: ServerOptions

    @OptionGroup var route: RouteOptions

    @Option(help: "A path prefix in front of the protocol's path.")
    var path: String?

    @OptionGroup var authorization: AuthorizationOptions

    func validate(_ channels: [String]) throws {
        try server.validateVariables(in: server.settings)
        try authorization.validate(with: server.settings, localApp: server.localApp)
        let problems = channels.lazy.compactMap {
            authorization.problem(of: $0, server.settings, localApp: server.localApp)
        }
        if let problem = problems.first { throw ValidationError(problem) }
    }

    /// The way to authorize subscriptions; `nil` if there is none.
    var authMethod: AuthMethod? { authorization.method(server.settings, localApp: server.localApp) }

    /// Returns a client whose log goes to this handler.
    func makePusher(
        log: any LogHandler, environment: PusherEnvironment = .live, _ change: (inout PusherClientOptions) -> Void
    ) -> Pusher {
        var options = PusherClientOptions(
            authMethod: authMethod ?? .noMethod, host: server.location, port: server.portToUse, path: path,
            useTLS: server.usesTLS,
            tls: route.tls, proxy: route.proxyConfiguration, logger: Logger(label: "pusher-channels") { _ in log })
        change(&options)
        let pusher = Pusher(key: server.key, options: options, environment: environment)
        if let userID = authorization.userID {
            pusher.connection.userDataFetcher = { PusherPresenceChannelMember(userID: userID) }
        }
        return pusher
    }
}

/// The options that let a client into channels that need an authorization.
struct AuthorizationOptions: ParsableArguments {
    @Option(
        name: .customLong("secret"),
        help: """
            The app's secret, to sign subscriptions with; safer in $PUSHER_SECRET, where other users don't see it. By default the \
            secret and the encryption master key of serve's app are used with its key.
            """)
    var givenSecret: String?

    @Option(
        name: .customLong("encryption-master-key"),
        help: """
            The app's encryption master key, 32 bytes in base64, for encrypted channels; requires --secret. Safer in \
            $PUSHER_ENCRYPTION_MASTER_KEY.
            """)
    var givenMasterKey: String?

    @Option(name: .customLong("auth-endpoint"), help: "The address of an authorization endpoint; $PUSHER_AUTH_ENDPOINT.")
    var givenEndpoint: String?

    @Option(help: "The user id on presence channels; requires --secret.")
    var userID: String?

    func validate() throws {
        if givenSecret != nil, givenEndpoint != nil { throw ValidationError("give --secret or --auth-endpoint, not both") }
        if let givenEndpoint { try Setting.authEndpoint.validate(givenEndpoint, isOption: true) }
    }

    /// Checks the options that depend on the values of the environment and the file.
    ///
    /// - Parameters:
    ///   - settings: The settings of the environment and the file.
    ///   - localApp: The app whose secret signs if neither a secret nor an endpoint is given.
    func validate(with settings: Settings, localApp: ServerApp?) throws {
        if case .secret(_, let masterKey) = credential(settings, localApp) {
            if let masterKey { try Setting.encryptionMasterKey.validate(masterKey, isOption: givenMasterKey != nil) }
        } else {
            if userID != nil { throw ValidationError("--user-id requires --secret") }
            if givenMasterKey != nil { throw ValidationError("--encryption-master-key requires --secret") }
        }
        if case .endpoint(let endpoint) = credential(settings, localApp) {
            try Setting.authEndpoint.validate(endpoint, isOption: givenEndpoint != nil)
        }
    }

    private enum Credential {
        case endpoint(String)
        case secret(String, encryptionMasterKey: String?)
    }

    /// Returns the credential to authorize with. An option takes precedence over the environment and the file.
    private func credential(_ settings: Settings, _ localApp: ServerApp?) -> Credential? {
        if let givenEndpoint { return .endpoint(givenEndpoint) }
        func signing(_ secret: String) -> Credential {
            let known = secret == localApp?.secret ? localApp?.encryptionMasterKey : nil
            return .secret(secret, encryptionMasterKey: givenMasterKey ?? settings[.encryptionMasterKey] ?? known)
        }
        if let givenSecret { return signing(givenSecret) }
        return switch settings.first(of: [.authEndpoint, .secret]) {
        case (.authEndpoint, let endpoint)?: .endpoint(endpoint)
        case (_, let secret)?: signing(secret)
        case nil: localApp.map { signing($0.secret) }
        }
    }

    func method(_ settings: Settings, localApp: ServerApp?) -> AuthMethod? {
        switch credential(settings, localApp) {
        case .endpoint(let endpoint)?: .endpoint(authEndpoint: endpoint)
        case .secret(let secret, let masterKey)?: .inline(secret: secret, encryptionMasterKey: masterKey)
        case nil: nil
        }
    }

    /// Returns a message for a person that names the option a channel lacks; `nil` if it lacks none.
    func problem(of channel: String, _ settings: Settings, localApp: ServerApp?) -> String? {
        let name = ChannelName(channel)
        return switch credential(settings, localApp) {
        case nil where name.needsAuthorization:
            "\(channel) requires --secret or --auth-endpoint"
        case .secret(_, nil)? where name.kind == .encrypted:
            "\(channel) requires --encryption-master-key beside --secret, or --auth-endpoint"
        default: nil
        }
    }
}
