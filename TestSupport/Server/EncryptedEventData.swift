import Foundation
import PusherChannels

/// An encrypted channel's event data as an app's backend makes it: `{"nonce":base64,"ciphertext":base64}`.
enum EncryptedEventData {
    static func seal(_ data: String, with key: [UInt8], using generator: inout SplitMix64) -> String? {
        let nonce = (0..<SecretBox.nonceLength).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        guard let ciphertext = SecretBox.seal(Array(data.utf8), nonce: nonce, key: key) else { return nil }
        let encrypted: JSONValue = .object([
            "nonce": .string(Data(nonce).base64EncodedString()),
            "ciphertext": .string(Data(ciphertext).base64EncodedString()),
        ])
        return encrypted.text
    }
}
