import ArgumentParser
import Foundation
import PusherChannels

/// The options that let a client into channels that need an authorization.
struct AuthorizationOptions: ParsableArguments {
    @Option(
        name: .customLong("secret"),
        help: """
            The app's secret, to sign subscriptions with; better in $PUSHER_SECRET, where other users don't see it. listen has that of \
            serve's app by default.
            """)
    var givenSecret: String?

    @Option(
        name: .customLong("encryption-master-key"),
        help: """
            The app's encryption master key, 32 bytes in base64, for encrypted channels; requires --secret. Better in \
            $PUSHER_ENCRYPTION_MASTER_KEY.
            """)
    var givenMasterKey: String?

    @Option(name: .customLong("auth-endpoint"), help: "The address of an authorization endpoint; $PUSHER_AUTH_ENDPOINT.")
    var givenEndpoint: String?

    @Option(help: "The user id on presence channels; requires --secret.")
    var userID: String?

    func validate() throws {
        if givenSecret != nil, givenEndpoint != nil { throw ValidationError("give --secret or --auth-endpoint, not both") }
        if let givenEndpoint, let requirement = Setting.authEndpoint.requirement(unmetBy: givenEndpoint) {
            throw ValidationError("--auth-endpoint \(requirement)")
        }
    }

    /// Checks what can only be checked with the values of the environment and the file.
    ///
    /// - Parameters:
    ///   - settings: The environment's and the file's.
    ///   - localSecret: The secret to sign with where none is given, nor an endpoint.
    func validate(with settings: Settings, localSecret: String? = nil) throws {
        if case .secret(_, let masterKey) = credential(settings, localSecret) {
            // Not repeating what was given: it may be most of a key.
            if let masterKey, let requirement = Setting.encryptionMasterKey.requirement(unmetBy: masterKey) {
                throw ValidationError("--encryption-master-key \(requirement)")
            }
        } else {
            if userID != nil { throw ValidationError("--user-id requires --secret") }
            if givenMasterKey != nil { throw ValidationError("--encryption-master-key requires --secret") }
        }
        if case .endpoint(let endpoint) = credential(settings, localSecret),
            let requirement = Setting.authEndpoint.requirement(unmetBy: endpoint)
        {
            throw ValidationError("$\(Setting.authEndpoint.variable) \(requirement)")
        }
    }

    private enum Credential {
        case endpoint(String)
        case secret(String, encryptionMasterKey: String?)
    }

    /// The credential to authorize with. What the environment and the file have doesn't stand in the way of an option.
    private func credential(_ settings: Settings, _ localSecret: String?) -> Credential? {
        if let givenEndpoint { return .endpoint(givenEndpoint) }
        let found =
            givenSecret.map { (.secret, $0) } ?? settings.first(of: [.authEndpoint, .secret]) ?? localSecret.map { (.secret, $0) }
        return found.map { setting, value in
            setting == .authEndpoint
                ? .endpoint(value) : .secret(value, encryptionMasterKey: givenMasterKey ?? settings[.encryptionMasterKey])
        }
    }

    func method(_ settings: Settings, localSecret: String? = nil) -> AuthMethod {
        switch credential(settings, localSecret) {
        case .endpoint(let endpoint)?: .endpoint(authEndpoint: endpoint)
        case .secret(let secret, let masterKey)?: .inline(secret: secret, encryptionMasterKey: masterKey)
        case nil: .noMethod
        }
    }

    /// Returns which option a channel lacks, for a person; nil when none.
    func problem(of channel: String, _ settings: Settings, localSecret: String? = nil) -> String? {
        let name = ChannelName(channel)
        return switch credential(settings, localSecret) {
        case nil where name.needsAuthorization:
            "\(channel) requires --secret or --auth-endpoint"
        case .secret(_, nil)? where name.kind == .encrypted:
            "\(channel) requires --encryption-master-key beside --secret, or --auth-endpoint"
        default: nil
        }
    }
}
