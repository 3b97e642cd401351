import Foundation

/// Verifies that webhooks come from an app's server. Descriptions show no secret. May be used from any thread.
public struct PusherWebhookVerifier: Sendable, CustomStringConvertible {
    private let secrets: [Name: Secret<String>]
    private let encryptionMasterKeys: [EncryptionMasterKey]
    private let tolerance: Duration?
    private let environment: PusherEnvironment

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - secrets: The secret for each of the app's keys: several while keys are being changed. A key with an empty secret is
    ///     ignored.
    ///   - encryptionMasterKeys: The master keys of encrypted channels, in any order, to decrypt the data of their events.
    ///   - tolerance: The maximum difference between a webhook's time and this machine's; nil for any. If a webhook isn't
    ///     accepted, a server resends it for five minutes, with its original time. An older one may be a copy made by an
    ///     eavesdropper.
    ///   - environment: The source of the time, ``PusherEnvironment/wallClock``.
    public init(
        secrets: [String: String], encryptionMasterKeys: [EncryptionMasterKey] = [], tolerance: Duration? = .seconds(600),
        environment: PusherEnvironment = .live
    ) {
        // With an empty secret, anybody could make a valid signature.
        let secrets = secrets.filter { !$0.value.isEmpty }
        self.secrets = Dictionary(secrets.map { (Name($0.key), Secret($0.value)) }, uniquingKeysWith: { $1 })
        self.encryptionMasterKeys = encryptionMasterKeys
        self.tolerance = tolerance
        self.environment = environment
    }

    /// Verifies and reads a webhook.
    ///
    /// - Parameters:
    ///   - body: The request's body, byte for byte as received.
    ///   - key: The request's header field `X-Pusher-Key`.
    ///   - signature: The request's header field `X-Pusher-Signature`.
    /// - Throws: A ``PusherWebhookError``. Respond to it with an unsuccessful status, and to a valid webhook with 200.
    public func verify(
        body: some Sequence<UInt8>, key: String?, signature: String?
    ) throws(PusherWebhookError) -> PusherWebhook {
        guard let key, let signature else { throw .unsigned }
        guard let secret = secrets[Name(key)] else { throw .unknownKey }
        let bytes = Array(body)
        guard isSameSignature(signature, hmacSHA256(bytes, key: secret.value)) else { throw .wrongSignature }
        guard let webhook = PusherWebhook(String(decodingWithoutMark: bytes), opening: encryptionMasterKeys) else {
            throw .malformedBody
        }
        if let tolerance {
            let distance = abs(environment.wallClock().timeIntervalSince(webhook.time))
            // A clock whose time is NaN fails this check, too.
            guard distance <= tolerance / .seconds(1) else { throw .outOfTime }
        }
        return webhook
    }

    /// The number of keys that it knows.
    public var description: String { "PusherWebhookVerifier(\(secrets.count) keys)" }
}

/// The reason why a request is not accepted as a webhook.
public enum PusherWebhookError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The request has no key or no signature.
    case unsigned
    /// The verifier has no secret for the request's key, or only an empty one.
    case unknownKey
    /// The signature doesn't match the body: the secret differs, or the body was changed on its way, for example by a framework
    /// that parses it and writes it again.
    case wrongSignature
    /// The request is genuine, but its time is too far from this machine's.
    case outOfTime
    /// The request is genuine, but its body is not a webhook.
    case malformedBody

    /// The problem, and what can be done about it.
    public var description: String {
        switch self {
        case .unsigned: "the webhook has no X-Pusher-Key or no X-Pusher-Signature"
        case .unknownKey: "the webhook's key has no secret here: check the verifier's secrets, and that none is empty"
        case .wrongSignature: "the webhook's signature is wrong: check the secret, and that the body is verified as it came"
        case .outOfTime: "the webhook's time is too far from this machine's: check the clock"
        case .malformedBody: "the webhook's body isn't a JSON object with time_ms and events"
        }
    }
}
