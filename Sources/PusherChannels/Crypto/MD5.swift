#if canImport(COpenSSL)
import COpenSSL

/// The MD5 digest in lowercase hexadecimal: the HTTP API's `body_md5`. It protects nothing; the signature over it does.
package func md5(_ bytes: some Sequence<UInt8>) -> String {
    let bytes = Array(bytes)
    var digest = [UInt8](repeating: 0, count: 16)
    var length: UInt32 = 0
    EVP_Digest(bytes, bytes.count, &digest, &length, EVP_md5(), nil)
    return hexadecimal(digest)
}
#elseif canImport(CryptoKit)
import CryptoKit
import Foundation

/// The MD5 digest in lowercase hexadecimal: the HTTP API's `body_md5`. It protects nothing; the signature over it does.
package func md5(_ bytes: some Sequence<UInt8>) -> String {
    hexadecimal(Insecure.MD5.hash(data: Data(bytes)))
}
#endif
