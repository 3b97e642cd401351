import Foundation

/// The key from which an app's server derives the keys of its encrypted channels.
///
/// It is 32 random bytes, which every part of the app that publishes or authorizes has and nobody else: not Pusher, and no client.
/// `openssl rand -base64 32` makes one. Printed or dumped it shows nothing of it.
public struct EncryptionMasterKey: Sendable, CustomStringConvertible {
    private let bytes: Secret<[UInt8]>

    /// Reads a key in base64, as all server libraries are given it.
    ///
    /// - Throws: A ``PusherError`` of kind `invalidRequest` for what is not the base64 of 32 bytes.
    public init(base64: String) throws(PusherError) {
        // A file that a command wrote ends with a line's end.
        let text = base64.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let data = Data(base64Encoded: text), data.count == SecretBox.keyLength else {
            throw PusherError(
                .invalidRequest,
                message: "an encryption master key is \(SecretBox.keyLength) bytes in base64: openssl rand -base64 32")
        }
        bytes = Secret([UInt8](data))
    }

    /// The key of a channel.
    func sharedSecret(of channel: String) -> [UInt8] {
        SecretBox.sharedSecret(channel: channel, masterKey: bytes.value)
    }

    /// That it is one.
    public var description: String { "EncryptionMasterKey" }
}
