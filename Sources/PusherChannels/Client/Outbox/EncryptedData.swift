import Foundation

/// Decryption of the data of an encrypted channel's event: `{"nonce":base64,"ciphertext":base64}`, a NaCl secretbox.
enum EncryptedData {
    static func open(_ data: String?, with secret: SharedSecret) -> Result<String, ConnectionMachine.DecryptionFailure> {
        // The application may have supplied this secret. If there is another way to get a key, that is tried.
        guard let key = secret.bytes else { return .failure(.wrongKey) }
        let members: Members
        do throws(JSONError) {
            members = try Members(of: data)
        } catch {
            return .failure(.malformed("its data is not JSON"))
        }
        guard let nonce = members.nonce, nonce.count == SecretBox.nonceLength else {
            return .failure(.malformed("its data has no nonce of \(SecretBox.nonceLength) bytes in base64"))
        }
        guard let ciphertext = members.ciphertext, ciphertext.count >= SecretBox.tagLength else {
            return .failure(.malformed("its data has no ciphertext of at least \(SecretBox.tagLength) bytes in base64"))
        }
        guard let opened = SecretBox.open(ciphertext: ciphertext, nonce: nonce, key: key) else { return .failure(.wrongKey) }
        guard let text = String(validating: opened, as: UTF8.self) else {
            return .failure(.malformed("what was encrypted is not UTF-8"))
        }
        return .success(text)
    }
}

/// The members of an event's data that decryption needs; nil if they are missing or aren't base64.
private struct Members {
    var nonce: [UInt8]?
    var ciphertext: [UInt8]?

    init(of data: String?) throws(JSONError) {
        guard var data else { return }
        self = try data.withUTF8 { utf8 in
            Result { () throws(JSONError) in try Members(in: UnsafeRawBufferPointer(utf8)) }
        }.get()
    }

    private init(in bytes: UnsafeRawBufferPointer) throws(JSONError) {
        var nonce: String?
        var ciphertext: String?
        var scanner = JSONScanner(bytes)
        _ = try scanner.scanData { (key, scanner) throws(JSONError) in
            if scanner.isText(key, "nonce") {
                nonce = try scanner.scanText(depth: 1)
            } else if scanner.isText(key, "ciphertext") {
                ciphertext = try scanner.scanText(depth: 1)
            } else {
                return false
            }
            return true
        }
        self.nonce = Self.bytes(nonce)
        self.ciphertext = Self.bytes(ciphertext)
    }

    private static func bytes(_ base64: String?) -> [UInt8]? {
        base64.flatMap { Data(base64Encoded: $0) }.map { [UInt8]($0) }
    }
}
