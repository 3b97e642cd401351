import Foundation

/// Tells the webhooks of an app's server from everybody else's. Descriptions show no secret. May be used from any thread.
public struct PusherWebhookVerifier: Sendable, CustomStringConvertible {
    private let secrets: [Name: Secret<String>]
    private let encryptionMasterKeys: [EncryptionMasterKey]
    private let tolerance: Duration?
    private let environment: PusherEnvironment

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - secrets: The secret behind each key that the app has: several while keys are changed. A key whose secret is empty is none.
    ///   - encryptionMasterKeys: The keys of encrypted channels, whose events' data is decrypted, in any order.
    ///   - tolerance: The most that the time of a webhook may differ from this machine's; nil for any. A server makes a webhook that was
    ///     not accepted again for five minutes, with the time that it had. An older one may be a copy that somebody has overheard.
    ///   - environment: The source of the time, ``PusherEnvironment/wallClock``.
    public init(
        secrets: [String: String], encryptionMasterKeys: [EncryptionMasterKey] = [], tolerance: Duration? = .seconds(600),
        environment: PusherEnvironment = .live
    ) {
        // With an empty secret anybody's signature would be right.
        let secrets = secrets.filter { !$0.value.isEmpty }
        self.secrets = Dictionary(secrets.map { (Name($0.key), Secret($0.value)) }, uniquingKeysWith: { $1 })
        self.encryptionMasterKeys = encryptionMasterKeys
        self.tolerance = tolerance
        self.environment = environment
    }

    /// Verifies a webhook, and reads it.
    ///
    /// - Parameters:
    ///   - body: The request's body, byte for byte as it came.
    ///   - key: The request's header field `X-Pusher-Key`.
    ///   - signature: The request's header field `X-Pusher-Signature`.
    /// - Throws: A ``PusherWebhookError``. Answer it with a status that is no success, and what is right with 200.
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
            // A clock that shows no time is near to none.
            guard distance <= tolerance / .seconds(1) else { throw .outOfTime }
        }
        return webhook
    }

    /// The number of keys it knows.
    public var description: String { "PusherWebhookVerifier(\(secrets.count) keys)" }
}

/// Why a request is no webhook to act on.
public enum PusherWebhookError: Error, Equatable, Sendable, CustomStringConvertible {
    /// It has no key or no signature.
    case unsigned
    /// Its key is none of those with a secret that isn't empty.
    case unknownKey
    /// Its signature is another than that of its body: the secret differs, or somebody changed the body on its way, as a framework
    /// does that reads and writes it again.
    case wrongSignature
    /// It is genuine, and its time is too far from this machine's.
    case outOfTime
    /// It is genuine, and its body is no webhook.
    case malformedBody

    /// The problem, and what can be done about it.
    public var description: String {
        switch self {
        case .unsigned: "the webhook has no X-Pusher-Key or no X-Pusher-Signature"
        case .unknownKey: "the webhook's key has no secret here: check the verifier's secrets, and that none is empty"
        case .wrongSignature: "the webhook's signature is wrong: check the secret, and that the body is verified as it came"
        case .outOfTime: "the webhook's time is too far from this machine's: check the clock"
        case .malformedBody: "the webhook's body is no JSON object with time_ms and events"
        }
    }
}
