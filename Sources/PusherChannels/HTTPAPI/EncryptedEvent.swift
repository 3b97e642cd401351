import Foundation

/// The data of an event on an encrypted channel, as a server encrypts it: `{"ciphertext":base64,"nonce":base64}`, a NaCl
/// secretbox.
package enum EncryptedEvent {
    /// Returns data encrypted for a channel; nil if encryption isn't supported.
    static func encrypt(
        _ data: String, for channel: String, with key: EncryptionMasterKey, nonce: [UInt8] = SecretBox.makeNonce()
    ) -> String? {
        encrypt(data, with: key.sharedSecret(of: channel), nonce: nonce)
    }

    /// Returns data encrypted with a channel's key; nil if encryption isn't supported.
    package static func encrypt(_ data: String, with key: [UInt8], nonce: [UInt8]) -> String? {
        guard let ciphertext = SecretBox.seal(Array(data.utf8), nonce: nonce, key: key) else { return nil }
        return JSONValue.object([
            "nonce": .string(Data(nonce).base64EncodedString()), "ciphertext": .string(Data(ciphertext).base64EncodedString()),
        ]).text
    }

    /// Returns an event's data, decrypted if its channel is encrypted and a key fits; otherwise as it was received.
    static func readable(_ data: String, of channel: String, with keys: [EncryptionMasterKey]) -> String {
        guard ChannelName(channel).kind == .encrypted, !keys.isEmpty else { return data }
        return decrypt(data, of: channel, with: keys) ?? data
    }

    /// Returns the text that was encrypted for a channel, decrypted with the first key that fits; nil if none does.
    package static func decrypt(_ data: String, of channel: String, with keys: [EncryptionMasterKey]) -> String? {
        guard let encrypted = try? JSONValue(parsing: data), let nonce = bytes(encrypted["nonce"]),
            let ciphertext = bytes(encrypted["ciphertext"])
        else { return nil }
        for key in keys {
            let secret = key.sharedSecret(of: channel)
            if let opened = SecretBox.open(ciphertext: ciphertext, nonce: nonce, key: secret) {
                return String(validating: opened, as: UTF8.self)
            }
        }
        return nil
    }

    private static func bytes(_ value: JSONValue?) -> [UInt8]? {
        value?.stringValue.flatMap { Data(base64Encoded: $0) }.map { [UInt8]($0) }
    }
}
