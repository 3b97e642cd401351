import Foundation

extension SharedSecret {
    /// The key itself; nil if the text is not the base64 of one.
    package var bytes: [UInt8]? {
        guard let data = Data(base64Encoded: base64), data.count == SecretBox.keyLength else { return nil }
        return [UInt8](data)
    }

    /// The key that an app's server derives for a channel from its master key; nil if that is not one in base64.
    package static func derived(for channel: String, masterKey: String) -> SharedSecret? {
        guard let master = SharedSecret(base64: masterKey).bytes else { return nil }
        return SharedSecret(base64: Data(SecretBox.sharedSecret(channel: channel, masterKey: master)).base64EncodedString())
    }
}
