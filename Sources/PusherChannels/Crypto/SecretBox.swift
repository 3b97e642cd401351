#if canImport(CSodium)
import CSodium

/// NaCl's secretbox (XSalsa20-Poly1305), which encrypted channels use, and the derivation of their keys.
package enum SecretBox {
    /// Indicates whether this platform has it.
    package static let isSupported = true
    package static let keyLength = Int(crypto_secretbox_KEYBYTES)
    package static let nonceLength = Int(crypto_secretbox_NONCEBYTES)
    private static let tagLength = Int(crypto_secretbox_MACBYTES)

    /// Returns the plain text; nil if the key or the nonce is another one, or something was changed.
    package static func open(ciphertext: [UInt8], nonce: [UInt8], key: [UInt8]) -> [UInt8]? {
        Sodium.prepare()
        guard nonce.count == nonceLength, key.count == keyLength, ciphertext.count >= tagLength else { return nil }
        var message = [UInt8](repeating: 0, count: ciphertext.count - tagLength)
        let result = crypto_secretbox_open_easy(&message, ciphertext, UInt64(ciphertext.count), nonce, key)
        return result == 0 ? message : nil
    }

    /// Seals a message, the tag in front; nil for a nonce or a key of the wrong length.
    package static func seal(_ message: [UInt8], nonce: [UInt8], key: [UInt8]) -> [UInt8]? {
        Sodium.prepare()
        guard nonce.count == nonceLength, key.count == keyLength else { return nil }
        var ciphertext = [UInt8](repeating: 0, count: message.count + tagLength)
        let result = crypto_secretbox_easy(&ciphertext, message, UInt64(message.count), nonce, key)
        return result == 0 ? ciphertext : nil
    }

    /// The key of a channel: SHA-256 of its name and the app's master key.
    package static func sharedSecret(channel: String, masterKey: [UInt8]) -> [UInt8] {
        Sodium.prepare()
        var input = Array(channel.utf8)
        // All at once: what it grew out of would stay as it is.
        input.reserveCapacity(input.count + masterKey.count)
        input += masterKey
        defer { Sodium.wipe(&input) }
        var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        crypto_hash_sha256(&digest, input, UInt64(input.count))
        return digest
    }
}
#else
/// Encrypted channels need libsodium; nobody has verified another implementation yet.
package enum SecretBox {
    /// Indicates whether this platform has it.
    package static let isSupported = false
    package static let keyLength = 32
    package static let nonceLength = 24

    package static func open(ciphertext: [UInt8], nonce: [UInt8], key: [UInt8]) -> [UInt8]? { nil }
    package static func seal(_ message: [UInt8], nonce: [UInt8], key: [UInt8]) -> [UInt8]? { nil }
    package static func sharedSecret(channel: String, masterKey: [UInt8]) -> [UInt8] { [] }
}
#endif
