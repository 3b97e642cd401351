import ArgumentParser
import Foundation
import PusherChannels

/// The options that let a client into channels that need an authorization.
struct AuthorizationOptions: ParsableArguments {
    @Option(
        name: .customLong("secret"),
        help: "The app's secret, to sign subscriptions with; better in $PUSHER_SECRET, where other users don't see it.")
    var givenSecret: String?

    @Option(
        name: .customLong("encryption-master-key"),
        help: """
            The app's encryption master key, 32 bytes in base64, for encrypted channels; takes --secret. Better in \
            $PUSHER_ENCRYPTION_MASTER_KEY.
            """)
    var givenMasterKey: String?

    @Option(help: "The address of an authorization endpoint.")
    var authEndpoint: String?

    @Option(help: "The user id on presence channels; takes --secret.")
    var userID: String?

    /// What the environment has doesn't stand in the way of an endpoint.
    private var secret: String? { givenSecret ?? (authEndpoint == nil ? ServerOptions.variable("SECRET") : nil) }

    private var encryptionMasterKey: String? {
        givenMasterKey ?? (secret == nil ? nil : ServerOptions.variable("ENCRYPTION_MASTER_KEY"))
    }

    func validate() throws {
        if givenSecret != nil, authEndpoint != nil { throw ValidationError("give --secret or --auth-endpoint, not both") }
        if userID != nil, secret == nil { throw ValidationError("--user-id takes --secret") }
        if encryptionMasterKey != nil, secret == nil { throw ValidationError("--encryption-master-key takes --secret") }
        // Not repeating what was given: it may be most of a key, or hold a password.
        if let key = encryptionMasterKey, Data(base64Encoded: key)?.count != 32 {
            throw ValidationError("--encryption-master-key takes 32 bytes in base64")
        }
        if let authEndpoint, !["http", "https"].contains(URL(string: authEndpoint)?.scheme?.lowercased()) {
            throw ValidationError("--auth-endpoint takes an address that begins with http:// or https://")
        }
    }

    var method: AuthMethod {
        if let secret { return .inline(secret: secret, encryptionMasterKey: encryptionMasterKey) }
        if let authEndpoint { return .endpoint(authEndpoint: authEndpoint) }
        return .noMethod
    }

    /// Which option a channel lacks, for a person; nil when none.
    func problem(of channel: String) -> String? {
        let name = ChannelName(channel)
        if name.needsAuthorization, secret == nil, authEndpoint == nil { return "\(channel) takes --secret or --auth-endpoint" }
        if name.kind == .encrypted, secret != nil, encryptionMasterKey == nil {
            return "\(channel) takes --encryption-master-key beside --secret, or --auth-endpoint"
        }
        return nil
    }
}
