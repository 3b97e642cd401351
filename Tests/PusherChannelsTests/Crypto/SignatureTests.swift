import Testing

@testable import PusherChannels

/// The examples of Pusher's documentation and of its server libraries.
@Suite struct SignatureTests {
    private static let key = "278d425bdf160c739803"
    private static let secret = "7ad3773142a6692b25b8"

    /// The documentation prints another signature for the presence channel: it is for the name "Mr. Pusher", which the example
    /// had before.
    // Proves P14.7.
    @Test(arguments: [
        ("private-foobar", nil, "58df8b0c36d6982b82c3ecf6b4662e34fe8c25bba48f5369f135bf843651c3a4"),
        (
            "presence-foobar", #"{"user_id":10,"user_info":{"name":"Mr. Channels"}}"#,
            "31935e7d86dba64c2a90aed31fdc61869f9b22ba9d8863bba239c03ca481bc80"
        ),
        (
            "presence-foobar", #"{"user_id":10,"user_info":{"name":"Mr. Pusher"}}"#,
            "afaed3695da2ffd16931f457e338e6c9f2921fa133ce7dac49f529792be6304c"
        ),
    ])
    func `A channel's signature equals the documentation's`(channel: String, channelData: String?, digest: String) throws {
        let signature = try Signature.channel(
            channel, channelData: channelData, socketID: "1234.1234", key: Self.key, secret: Self.secret)
        #expect(signature == "\(Self.key):\(digest)")
    }

    // Proves P14.7.
    @Test func `A user's signature equals that of Pusher's documentation`() throws {
        let signature = try Signature.user(#"{"id":"12345"}"#, socketID: "1234.1234", key: Self.key, secret: Self.secret)
        #expect(signature == "\(Self.key):4708d583dada6a56435fb8bc611c77c359a31eebde13337c16ab43aa6de336ba")
    }

    // Proves P14.7, P16.5.
    @Test(arguments: ["", "1", "1.2.3", "a.b", "1.2:private-a", "POST\n/apps/1/events\nx=", "1.２"])
    func `Nothing is signed for a socket id that isn't two numbers`(socketID: String) {
        let error = #expect(throws: PusherError.self) {
            try Signature.channel("private-a", socketID: socketID, key: "k", secret: "s")
        }
        #expect(throws: PusherError.self) { try Signature.user("{}", socketID: socketID, key: "k", secret: "s") }
        #expect(error?.kind == .invalidRequest)
    }

    @Test func `Channel data is signed byte for byte`() throws {
        let signatures = try [#"{"user_id":"1"}"#, #"{"user_id": "1"}"#, #"{"user_id":1}"#, "", nil].map {
            try Signature.channel("presence-a", channelData: $0, socketID: "1.2", key: "k", secret: "s")
        }
        #expect(Set(signatures).count == signatures.count)
    }

    @Test func `A request's signature equals that of Pusher's documentation, whatever the case of its parameters' names`() {
        let query = [
            "AUTH_KEY": Self.key, "AUTH_TIMESTAMP": "1353088179", "AUTH_VERSION": "1.0",
            "BODY_MD5": "ec365a775a4cd0599faeb73354201b6f",
        ]
        let signature = Signature.request(method: "POST", path: "/apps/3/events", query: query, secret: Self.secret)
        #expect(signature == "da454824c97ba181a32ccc17a72625ba02771f50b50e1e7430e47a1f3f457e6c")
    }
}

@Suite struct DigestsTests {
    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// FIPS 180's examples, and the lengths around a block's end.
    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"), ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "a49b2446a02c645bf419f995b67091253a04a259"
        ),
        (String(repeating: "a", count: 55), "c1c8bbdc22796e28c0e15163d20899b65621d65a"),
        (String(repeating: "a", count: 56), "c2db330f6083854c99d4b5bfb6e8f29f201be699"),
        (String(repeating: "a", count: 63), "03f09f5b158a7a8cdad920bddc29b81c18a551f5"),
        (String(repeating: "a", count: 64), "0098ba824b5c16427bd7a1122a5a442a25ec644d"),
        (String(repeating: "a", count: 65), "11655326c708d70319be2610e8a57d9a5b959d3b"),
        (String(repeating: "a", count: 10_000), "a080cbda64850abb7b7f67ee875ba068074ff6fe"),
    ])
    func `SHA-1 digests equal those of the standard, also around a block's end`(message: String, digest: String) {
        #expect(hex(sha1(message.utf8)) == digest)
    }

    /// RFC 1321, appendix A.5, and the body that Pusher's HTTP API reference signs.
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"), ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
        ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"),
        (String(repeating: "1234567890", count: 8), "57edf4a22be3c955ac49da2e2107b67a"),
        (#"{"name":"foo","channels":["project-3"],"data":"{\"some\":\"data\"}"}"#, "ec365a775a4cd0599faeb73354201b6f"),
    ])
    func `MD5 digests equal those of RFC 1321`(text: String, digest: String) {
        #expect(md5(text.utf8) == digest)
    }

    /// RFC 4231, section 4: the cases whose keys and messages are text, of which 4.6 prints only the first 128 bits. The others were
    /// made with Python's `hmac`: keys as long as SHA-256's block and longer, which are hashed first, and no key at all.
    @Test(arguments: [
        (String(repeating: "\u{0B}", count: 20), "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        ("Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        (String(repeating: "\u{0C}", count: 20), "Test With Truncation", "a3b6167473100ee06e0c796c2955552b"),
        (keys(64), "message", "890f3a16e0ca0aaa3bf180f70fa8e3970b3fd6505e98fde157988dcc19d1685c"),
        (keys(65), "message", "0c256505306af48015530c139bb7add5ad7a6a9291cd511278a067e765816fbd"),
        (keys(131), "message", "bf7c7ea93af6117b4f6f7dd0b8aac62097cd835b9df2ca81010858ebe0d2cabd"),
        ("", "message", "eb08c1f56d5ddee07f7bdf80468083da06b64cf4fac64fe3a90883df5feacae4"),
        ("", "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
        ("schlüssel", "é🙂", "db178af93bb5216fdb338790d6651174d559aa85b70fcd47a093c41b17d3999c"),
    ])
    func `HMAC-SHA256 digests equal the RFC's and Python's, with keys of any size`(key: String, message: String, digest: String) {
        #expect(hmacSHA256(message, key: key).hasPrefix(digest))
        #expect(hmacSHA256(message, key: key).utf8.count == 64)
    }

    private static func keys(_ count: Int) -> String { String(repeating: "k", count: count) }

    @Test(arguments: [
        ("", "a"), ("a", ""), ("a", "b"), ("abc", "abd"), ("abc", "xbc"), ("abc", "ab"), ("abc", "abcd"), ("abc", "ABC"),
        ("ab", "ba"), ("é", "e\u{301}"),
    ])
    func `Signatures that differ in bytes, length, case, or Unicode form are not equal`(left: String, right: String) {
        #expect(!isSameSignature(left, right))
        #expect(!isSameSignature(right, left))
    }
}
