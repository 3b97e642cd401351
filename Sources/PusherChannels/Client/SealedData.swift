import Foundation

/// Opens the data of an encrypted channel's event: `{"nonce":base64,"ciphertext":base64}`, a NaCl secretbox.
enum SealedData {
    static func open(_ data: String?, with secret: SharedSecret) -> Result<String, ConnectionMachine.OpeningFailure> {
        guard let key = secret.bytes else { return .failure(.malformed("the channel's key is not base64 of 32 bytes")) }
        let sealed: JSONValue?
        do {
            sealed = try data.map(JSONValue.init(parsing:))
        } catch {
            return .failure(.malformed("its data is not JSON"))
        }
        guard let nonce = sealed?["nonce"]?.bytes, nonce.count == SecretBox.nonceLength else {
            return .failure(.malformed("its data has no nonce of \(SecretBox.nonceLength) bytes in base64"))
        }
        guard let ciphertext = sealed?["ciphertext"]?.bytes else {
            return .failure(.malformed("its data has no ciphertext in base64"))
        }
        guard let opened = SecretBox.open(ciphertext: ciphertext, nonce: nonce, key: key) else { return .failure(.wrongKey) }
        guard let text = String(validating: opened, as: UTF8.self) else {
            return .failure(.malformed("what was encrypted is not UTF-8"))
        }
        return .success(text)
    }
}

extension JSONValue {
    fileprivate var bytes: [UInt8]? {
        stringValue.flatMap { Data(base64Encoded: $0) }.map { [UInt8]($0) }
    }
}
