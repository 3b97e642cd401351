import Foundation
import TestSupport
import Testing

struct ServerEncryptionTests {
    private let channel = "private-encrypted-orders"
    private let key = "Rp+JW0P1Y4Dbn8NPhcFo88FAzz3QPb3PZ646obzmrp4="

    private func authorization(_ app: ServerApp) -> StubResponse {
        var rig = ServerRig(ServerMachine(apps: [app]))
        return rig.authorize("socket_id=1.2&channel_name=\(channel)")
    }

    @Test func `The auth endpoint returns an encrypted channel's key with the signature`() throws {
        let reply = try JSONValue(parsing: authorization(.local).text)
        #expect(reply["shared_secret"] == .string(key))
        #expect(reply["auth"]?.stringValue?.hasPrefix("local-key:") == true)
    }

    @Test(arguments: [nil, "", "short", "AAEC"])
    func `The auth endpoint answers 500 without a valid master key, and shows no secret`(masterKey: String?) {
        let reply = authorization(ServerApp(id: "a", key: "k", secret: "s3cret", encryptionMasterKey: masterKey))
        #expect(reply.status == 500)
        #expect(!reply.text.contains("s3cret"))
    }

    @Test func `A test's event for an encrypted channel is sealed, each time differently`() throws {
        var rig = ServerRig(open: 1)
        rig.subscribe(1, to: channel)
        var encrypted: Set<String> = []
        for _ in 0..<2 {
            rig.publish(channel, "order", #"{"n":1}"#)
            let text = try #require(rig.frames.first?["data"]?.stringValue)
            encrypted.insert(text)
            let data = try JSONValue(parsing: text)
            let bytes = try [data["nonce"]?.stringValue, data["ciphertext"]?.stringValue, key].map {
                [UInt8](try #require(Data(base64Encoded: $0 ?? "")))
            }
            let opened = SecretBox.open(ciphertext: bytes[1], nonce: bytes[0], key: bytes[2])
            #expect(opened.map { String(decoding: $0, as: UTF8.self) } == #"{"n":1}"#)
        }
        #expect(encrypted.count == 2)
    }

    @Test func `An event for an encrypted channel from the HTTP API is passed on unchanged`() {
        var rig = ServerRig(open: 1)
        rig.subscribe(1, to: channel)
        rig.post(#"{"name":"order","channel":"private-encrypted-orders","data":"sealed"}"#)
        #expect(rig.sent == [#"1: {"event":"order","channel":"private-encrypted-orders","data":"sealed"}"#])
    }

    @Test func `An app's description shows no secret`() {
        var text = "\(ServerApp.local) \(String(reflecting: ServerApp.local))"
        dump(ServerApp.local, to: &text)
        #expect(!text.contains("local-secret"))
        #expect(!text.contains("AAEC"))
    }
}
