import Foundation

#if canImport(CSodium)
import CSodium

/// NaCl's secretbox (XSalsa20-Poly1305), which encrypted channels use, and the derivation of their keys.
package enum SecretBox {
    /// Indicates whether this platform supports it.
    package static let isSupported = true
    package static let keyLength = Int(crypto_secretbox_KEYBYTES)
    package static let nonceLength = Int(crypto_secretbox_NONCEBYTES)
    package static let tagLength = Int(crypto_secretbox_MACBYTES)

    /// Returns the plain text; nil if the key or the nonce is wrong, or anything was changed.
    package static func open(ciphertext: [UInt8], nonce: [UInt8], key: [UInt8]) -> [UInt8]? {
        Sodium.prepare()
        guard nonce.count == nonceLength, key.count == keyLength, ciphertext.count >= tagLength else { return nil }
        var message = [UInt8](repeating: 0, count: ciphertext.count - tagLength)
        let result = crypto_secretbox_open_easy(&message, ciphertext, UInt64(ciphertext.count), nonce, key)
        return result == 0 ? message : nil
    }

    /// Returns the encrypted message, with the tag in front; nil if the nonce or the key has the wrong length.
    package static func seal(_ message: [UInt8], nonce: [UInt8], key: [UInt8]) -> [UInt8]? {
        Sodium.prepare()
        guard nonce.count == nonceLength, key.count == keyLength else { return nil }
        var ciphertext = [UInt8](repeating: 0, count: message.count + tagLength)
        let result = crypto_secretbox_easy(&ciphertext, message, UInt64(message.count), nonce, key)
        return result == 0 ? ciphertext : nil
    }

    /// Returns a random nonce: for all practical purposes, no two are equal.
    package static func makeNonce() -> [UInt8] {
        Sodium.prepare()
        var nonce = [UInt8](repeating: 0, count: nonceLength)
        randombytes_buf(&nonce, nonce.count)
        return nonce
    }

    /// Returns the key of a channel: SHA-256 of its name and the app's master key.
    package static func sharedSecret(channel: String, masterKey: [UInt8]) -> [UInt8] {
        Sodium.prepare()
        var input = Array(channel.utf8)
        // Reserved in advance: an array that grows leaves its old storage behind as it was.
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
    /// Indicates whether this platform supports it.
    package static let isSupported = false
    package static let keyLength = 32
    package static let nonceLength = 24
    package static let tagLength = 16

    package static func open(ciphertext: [UInt8], nonce: [UInt8], key: [UInt8]) -> [UInt8]? { nil }
    package static func seal(_ message: [UInt8], nonce: [UInt8], key: [UInt8]) -> [UInt8]? { nil }
    package static func makeNonce() -> [UInt8] { [] }
    package static func sharedSecret(channel: String, masterKey: [UInt8]) -> [UInt8] { [] }
}
#endif

#if canImport(CSodium)
import CSodium

/// The initialization that libsodium requires.
enum Sodium {
    /// Initializes libsodium once, before anything else: it chooses the best code for this processor, and sets up what makes it
    /// thread-safe.
    static func prepare() { _ = isPrepared }

    private static let isPrepared = sodium_init() >= 0

    /// Overwrites a copy of a secret that was made here. The user's own values are left alone.
    static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { sodium_memzero($0.baseAddress, $0.count) }
    }
}
#endif

extension SharedSecret {
    /// The key itself; nil if the text isn't the base64 of one.
    package var bytes: [UInt8]? {
        guard let data = Data(base64Encoded: base64), data.count == SecretBox.keyLength else { return nil }
        return [UInt8](data)
    }

    /// Returns the key that an app's server derives for a channel from its master key; nil if that isn't a key in base64.
    package static func derived(for channel: String, masterKey: String) -> SharedSecret? {
        guard let key = try? EncryptionMasterKey(base64: masterKey) else { return nil }
        return SharedSecret(base64: Data(key.sharedSecret(of: channel)).base64EncodedString())
    }
}
