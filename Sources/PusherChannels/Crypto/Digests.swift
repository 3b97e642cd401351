#if canImport(CSodium)
import CSodium

/// Returns the HMAC-SHA-256 of bytes in lowercase hexadecimal, the form of every signature of the protocol.
package func hmacSHA256(_ message: [UInt8], key: String) -> String {
    Sodium.prepare()
    var state = crypto_auth_hmacsha256_state()
    var digest = [UInt8](repeating: 0, count: Int(crypto_auth_hmacsha256_BYTES))
    var key = Array(key.utf8)
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

/// Returns the HMAC-SHA-256 of bytes in lowercase hexadecimal, the form of every signature of the protocol.
package func hmacSHA256(_ message: [UInt8], key: String) -> String {
    let key = SymmetricKey(data: Data(key.utf8))
    return hexadecimal(HMAC<SHA256>.authenticationCode(for: Data(message), using: key))
}
#endif

/// Returns the HMAC-SHA-256 of a text's UTF-8 in lowercase hexadecimal.
package func hmacSHA256(_ message: String, key: String) -> String {
    hmacSHA256(Array(message.utf8), key: key)
}

/// Returns whether two signatures are equal, in a time that doesn't reveal where they differ.
package func isSameSignature(_ left: String, _ right: String) -> Bool {
    let left = Array(left.utf8)
    let right = Array(right.utf8)
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
}

#if canImport(COpenSSL)
import COpenSSL

/// Returns the MD5 digest in lowercase hexadecimal, for the HTTP API's `body_md5`. It provides no security; the signature over it
/// does.
package func md5(_ bytes: some Sequence<UInt8>) -> String {
    hexadecimal(algorithmOfMD5.withLock { digest(bytes, $0) })
}

/// The algorithm comes from a separate library context: if a system allows only the algorithms of FIPS 140, the default context
/// has no MD5.
private let algorithmOfMD5 = Locked(fetchMD5())

private func fetchMD5() -> OpaquePointer? {
    let library = OSSL_LIB_CTX_new()
    OSSL_PROVIDER_load(library, "default")
    return EVP_MD_fetch(library, "MD5", "-fips")
}

/// Returns the SHA-1 digest, with which a server shows that it understood the WebSocket upgrade (RFC 6455, 1.3). It provides no
/// security.
func sha1(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    digest(bytes, EVP_sha1())
}

private func digest(_ bytes: some Sequence<UInt8>, _ algorithm: OpaquePointer?) -> [UInt8] {
    let bytes = Array(bytes)
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    EVP_Digest(bytes, bytes.count, &digest, &length, algorithm, nil)
    return Array(digest.prefix(Int(length)))
}
#elseif canImport(CryptoKit)
import CryptoKit
import Foundation

/// Returns the MD5 digest in lowercase hexadecimal, for the HTTP API's `body_md5`. It provides no security; the signature over it
/// does.
package func md5(_ bytes: some Sequence<UInt8>) -> String {
    hexadecimal(Insecure.MD5.hash(data: Data(bytes)))
}

/// Returns the SHA-1 digest, with which a server shows that it understood the WebSocket upgrade (RFC 6455, 1.3). It provides no
/// security.
func sha1(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    Array(Insecure.SHA1.hash(data: Data(bytes)))
}
#endif
