import Foundation

/// The key from which an app's server derives the keys of its encrypted channels.
///
/// The key is 32 random bytes. Only the parts of the app that publish or authorize have it: not Pusher, and no client. When
/// printed or dumped, it shows nothing of the bytes. `openssl rand -base64 32` makes a key.
public struct EncryptionMasterKey: Sendable, CustomStringConvertible {
    private let bytes: Secret<[UInt8]>

    /// Creates a key from base64, the form that all server libraries use.
    ///
    /// - Throws: A ``PusherError`` of kind `invalidRequest` if the text isn't the base64 of 32 bytes.
    public init(base64: String) throws(PusherError) {
        // A file that a command wrote ends with a newline.
        let text = base64.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let data = Data(base64Encoded: text), data.count == SecretBox.keyLength else {
            throw PusherError(
                .invalidRequest,
                message: "an encryption master key is \(SecretBox.keyLength) bytes in base64: openssl rand -base64 32")
        }
        bytes = Secret([UInt8](data))
    }

    /// Returns the key of a channel.
    func sharedSecret(of channel: String) -> [UInt8] {
        SecretBox.sharedSecret(channel: channel, masterKey: bytes.value)
    }

    /// The type's name.
    public var description: String { "EncryptionMasterKey" }
}
