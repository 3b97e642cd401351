#if canImport(CSodium)
import CSodium

/// HMAC-SHA-256 of a message, in lowercase hexadecimal: how every signature of the protocol is written.
package func hmacSHA256(_ message: String, key: String) -> String {
    Sodium.prepare()
    var state = crypto_auth_hmacsha256_state()
    var digest = [UInt8](repeating: 0, count: Int(crypto_auth_hmacsha256_BYTES))
    var key = Array(key.utf8)
    let message = Array(message.utf8)
    defer {
        Sodium.wipe(&key)
        sodium_memzero(&state, MemoryLayout.size(ofValue: state))
    }
    crypto_auth_hmacsha256_init(&state, key, key.count)
    crypto_auth_hmacsha256_update(&state, message, UInt64(message.count))
    crypto_auth_hmacsha256_final(&state, &digest)
    return hexadecimal(digest)
}
#elseif canImport(CryptoKit)
import CryptoKit
import Foundation

/// HMAC-SHA-256 of a message, in lowercase hexadecimal: how every signature of the protocol is written.
package func hmacSHA256(_ message: String, key: String) -> String {
    let key = SymmetricKey(data: Data(key.utf8))
    return hexadecimal(HMAC<SHA256>.authenticationCode(for: Data(message.utf8), using: key))
}
#endif

/// Returns whether two signatures are the same, in a time that tells nothing of where they differ.
package func isSameSignature(_ left: String, _ right: String) -> Bool {
    let left = Array(left.utf8)
    let right = Array(right.utf8)
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
}
