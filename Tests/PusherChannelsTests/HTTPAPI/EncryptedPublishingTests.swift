import Foundation
import TestSupport
import Testing

@testable import PusherChannels

/// Events on encrypted channels: nothing is sent to one in plain text.
@Suite struct EncryptedPublishingTests {
    private static let channel = "private-encrypted-orders"
    private static let other = Data(repeating: 7, count: 32).base64EncodedString()

    private static func key(_ base64: String = APIRig.masterKey) -> EncryptionMasterKey {
        guard let key = try? EncryptionMasterKey(base64: base64) else { preconditionFailure("no key") }
        return key
    }

    private func rig(keys: [EncryptionMasterKey] = [Self.key()]) -> APIRig {
        let rig = APIRig(options: PusherHTTPAPIOptions(encryptionMasterKeys: keys))
        rig.respond()
        return rig
    }

    /// `python3 -c 'import nacl.secret,hashlib,base64,sys; b=base64; k=hashlib.sha256(sys.argv[1].encode()+bytes(range(32)))
    /// .digest(); print(b.b64encode(nacl.secret.SecretBox(k).encrypt(sys.argv[2].encode(),bytes(range(64,88))).ciphertext))'`
    // Proves P15.14.
    @Test(arguments: [
        (channel, #"{"message":"hello world"}"#, "C0kyg3jbbxBm0WrgebRFUvDklNxv7eDqzEZyJ3wDyjsf9KG2tbDKvQg="),
        (channel, "", "CzN3y+i7AXVvmSMO0hW4sA=="), (channel, #""x""#, "CRSQyxJCG5LD+J9Jit36yqm+2w=="),
        (channel, #"{"u":"é🙂"}"#, "/TzR8s9jmsFzt7N72uAYgvDkjJsmvEIkWfvRhzYb"),
        (
            "private-encrypted-cache-orders", #"{"message":"hello world"}"#,
            "yjOpifd1Av67qZ9fOcwwK6NdPi0F+KqZiVMXUvjdX5PoUQmn1YDQ/7s="
        ),
    ])
    func `An event is encrypted as by libsodium, and decrypted to its data`(channel: String, data: String, ciphertext: String) {
        let encrypted = EncryptedEvent.encrypt(data, for: channel, with: Self.key(), nonce: Array(0x40...0x57))
        #expect(encrypted == #"{"ciphertext":"\#(ciphertext)","nonce":"QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZX"}"#)
        #expect(encrypted.flatMap { EncryptedEvent.decrypt($0, of: channel, with: [Self.key()]) } == data)
    }

    /// An older key fits, too. Data that isn't encrypted, or that no key fits, is as it was received.
    @Test func `A cached event is decrypted if one of the keys fits, and is left unchanged otherwise`() async throws {
        let channel = "private-encrypted-cache-orders"
        let data = try #require(EncryptedEvent.encrypt("text", for: channel, with: Self.key()))
        let rig = rig(keys: [Self.key(Self.other), Self.key()])
        func member(_ data: String) -> JSONValue { ["cache": .object(["data": .string(data)])] }
        func cached(_ data: String, of channel: String, by rig: APIRig) async throws -> String? {
            rig.respond(200, member(data).text)
            return try await rig.api.channel(channel, info: [.cache]).cachedEvent?.data
        }
        #expect(try await cached(data, of: channel, by: rig) == "text")
        #expect(try await cached("plain", of: channel, by: rig) == "plain")
        #expect(try await cached(data, of: "cache-orders", by: rig) == data)
        #expect(try await cached(data, of: channel, by: self.rig(keys: [Self.key(Self.other)])) == data)
        #expect(try await cached(data, of: channel, by: self.rig(keys: [])) == data)

        rig.respond(200, JSONValue.object(["channels": .object([Name(channel): member(data)])]).text)
        #expect(try await rig.api.channels(info: [.cache]).first?.cachedEvent?.data == "text")
        let told = try await rig.api.trigger(channels: [channel], eventName: "e", data: "text", info: [.cache])
        #expect(told.first?.cachedEvent?.data == "text")
        rig.respond(200, JSONValue.object(["batch": .array([member(data)])]).text)
        let event = PusherBatchEvent(channel: channel, eventName: "e", data: "text", info: [.cache])
        let each = try await rig.api.triggerBatch([event])
        #expect(each.first?.cachedEvent?.data == "text")
    }

    // Proves P15.14.
    @Test func `Each event for an encrypted channel is encrypted with the first key and a nonce of its own`() async throws {
        let rig = rig(keys: [Self.key(), Self.key(Self.other)])
        for _ in 1...2 {
            try await rig.api.trigger(channels: [Self.channel], eventName: "placed", data: ["card": "4111"], excluding: "1.2")
        }
        try await rig.api.triggerBatch([
            PusherBatchEvent(channel: "news", eventName: "e", data: "plain"),
            PusherBatchEvent(channel: Self.channel, eventName: "placed", data: ["card": "4111"]),
        ])
        #expect(!rig.bodies.contains { $0.contains("4111") })
        let bodies = rig.session.requests.compactMap(\.json)
        let encrypted = bodies.compactMap { ($0["data"] ?? $0["batch"]?.arrayValue?.last?["data"])?.stringValue }
        #expect(Set(encrypted).count == 3, "each has a nonce of its own")
        let decrypted = encrypted.map { EncryptedEvent.decrypt($0, of: Self.channel, with: [Self.key()]) }
        #expect(decrypted == Array(repeating: #"{"card":"4111"}"#, count: 3))
        #expect(bodies.last?["batch"]?.arrayValue?.first?["data"]?.stringValue == "plain")
    }

    // Proves P15.15.
    @Test(arguments: [[channel, "news"], ["news", channel], [channel, "private-encrypted-b"], [channel, channel]])
    func `An event for several channels is refused if one of them is encrypted`(channels: [String]) async throws {
        let rig = rig()
        let error = await #expect(throws: PusherError.self) {
            try await rig.api.trigger(channels: channels, eventName: "e", data: "4111")
        }
        let words = "is encrypted: an event for it can't be for other channels too, publish it alone"
        #expect(error?.kind == .invalidRequest && error?.message.hasSuffix(words) == true)
        #expect(rig.session.requests.isEmpty)
    }

    /// `openssl rand -base64 32 > key` writes a line feed after the key.
    // Proves P15.16.
    @Test(arguments: ["", "no base64!", "AA==", Data(count: 31).base64EncodedString(), Data(count: 33).base64EncodedString()])
    func `An encryption master key is 32 bytes in base64, perhaps with a line feed, or is refused`(text: String) throws {
        let message = "an encryption master key is 32 bytes in base64: openssl rand -base64 32"
        #expect(throws: PusherError(.invalidRequest, message: message)) { try EncryptionMasterKey(base64: text) }
        _ = try EncryptionMasterKey(base64: "\(APIRig.masterKey)\n")
    }
}
