import Testing

@testable import PusherChannels

/// Published vectors, and those computed from them with other libraries.
@Suite struct SignatureTests {
    private let key = "278d425bdf160c739803"
    private let secret = "7ad3773142a6692b25b8"

    @Test(
        arguments: [
            ("private-foobar", nil, "58df8b0c36d6982b82c3ecf6b4662e34fe8c25bba48f5369f135bf843651c3a4"),
            (
                "presence-foobar", #"{"user_id":10,"user_info":{"name":"Mr. Channels"}}"#,
                "31935e7d86dba64c2a90aed31fdc61869f9b22ba9d8863bba239c03ca481bc80"
            ),
        ] as [(String, String?, String)])
    func channels(channel: String, channelData: String?, signature: String) {
        #expect(
            Signature.channel(channel, channelData: channelData, socketID: "1234.1234", key: key, secret: secret)
                == "\(key):\(signature)")
    }

    @Test(
        arguments: [
            ("private-a", nil, "7892e0c10b8b3ccf90cb037eafd38d103f3347cfe46f4bb9950a729d2748e1b1"),
            ("private-encrypted-a", nil, "5ba9fa89b78c09c1d0b9e7de1ee9af1dee5974997bf059619deeded4bdb15427"),
            (
                "presence-a", #"{"user_id":"u1","user_info":{"n":"A"}}"#,
                "019e1b5296e8f7d6040698ea6c399f0ad35a0d5190e0c5c6fb683deff8e29765"
            ),
        ] as [(String, String?, String)])
    func channelsOfAnotherApp(channel: String, channelData: String?, signature: String) {
        #expect(
            Signature.channel(channel, channelData: channelData, socketID: "1.2", key: "k", secret: "s3cret") == "k:\(signature)")
    }

    @Test func users() {
        #expect(
            Signature.user(#"{"id":"12345"}"#, socketID: "1234.1234", key: key, secret: secret)
                == "\(key):4708d583dada6a56435fb8bc611c77c359a31eebde13337c16ab43aa6de336ba")
        #expect(
            Signature.user(#"{"id":"u1"}"#, socketID: "1.2", key: "k", secret: "s3cret")
                == "k:610b390391c3de840d4b39f9b42249cf3022208a98790f960c025e449ade0584")
    }

    @Test func requests() {
        let body = #"{"name":"foo","channels":["project-3"],"data":"{\"some\":\"data\"}"}"#
        #expect(md5(body.utf8) == "ec365a775a4cd0599faeb73354201b6f")
        let query = ["auth_key": key, "auth_timestamp": "1353088179", "auth_version": "1.0", "body_md5": md5(body.utf8)]
        #expect(
            Signature.request(method: "POST", path: "/apps/3/events", query: query, secret: secret)
                == "da454824c97ba181a32ccc17a72625ba02771f50b50e1e7430e47a1f3f457e6c")
    }

    @Test func theSameSignatureIsTheSame() {
        #expect(isSameSignature("abc", "abc"))
        #expect(isSameSignature("", ""))
        for (left, right) in [("abc", "abd"), ("abc", "ab"), ("", "a"), ("Abc", "abc")] { #expect(!isSameSignature(left, right)) }
    }
}
