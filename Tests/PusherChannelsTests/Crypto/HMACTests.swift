import Testing

@testable import PusherChannels

@Suite struct HMACTests {
    /// RFC 4231, section 4: the cases whose keys and messages are text.
    @Test(arguments: [
        (
            String(repeating: "\u{0B}", count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        ("Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    ])
    func digestIsThatOfTheRFC(key: String, message: String, digest: String) {
        #expect(hmacSHA256(message, key: key) == digest)
    }

    /// RFC 4231, section 4.6, prints the first 128 bits only.
    @Test func truncatedDigestIsThatOfTheRFC() {
        let digest = hmacSHA256("Test With Truncation", key: String(repeating: "\u{0C}", count: 20))
        #expect(digest.hasPrefix("a3b6167473100ee06e0c796c2955552b"))
    }

    /// Made with Python's `hmac`: keys as long as SHA-256's block and longer, which are hashed first, and no key at all.
    @Test(arguments: [
        (64, "message", "890f3a16e0ca0aaa3bf180f70fa8e3970b3fd6505e98fde157988dcc19d1685c"),
        (65, "message", "0c256505306af48015530c139bb7add5ad7a6a9291cd511278a067e765816fbd"),
        (131, "message", "bf7c7ea93af6117b4f6f7dd0b8aac62097cd835b9df2ca81010858ebe0d2cabd"),
        (0, "message", "eb08c1f56d5ddee07f7bdf80468083da06b64cf4fac64fe3a90883df5feacae4"),
        (0, "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ])
    func keyMayHaveAnyLength(length: Int, message: String, digest: String) {
        #expect(hmacSHA256(message, key: String(repeating: "k", count: length)) == digest)
    }

    /// Made with Python's `hmac`.
    @Test func textIsSignedAsUTF8() {
        #expect(hmacSHA256("é🙂", key: "schlüssel") == "db178af93bb5216fdb338790d6651174d559aa85b70fcd47a093c41b17d3999c")
    }

    // MARK: Comparing

    @Test(arguments: ["", "a", "58df8b0c36d6982b", "278d425bdf160c739803:58df8b0c", "é🙂"])
    func signatureIsTheSameAsItself(signature: String) {
        #expect(isSameSignature(signature, String(decoding: Array(signature.utf8), as: UTF8.self)))
    }

    @Test(arguments: [
        ("", "a"), ("a", ""), ("a", "b"), ("abc", "abd"), ("abc", "xbc"), ("abc", "ab"), ("abc", "abcd"), ("abc", "ABC"),
        ("ab", "ba"),
        ("é", "e\u{301}"),
    ])
    func signatureIsNotTheSameAsAnother(left: String, right: String) {
        #expect(!isSameSignature(left, right))
        #expect(!isSameSignature(right, left))
    }

    @Test func oneBitAnywhereMakesADifference() {
        let signature = Array(hmacSHA256("m", key: "k").utf8)
        for index in signature.indices {
            var other = signature
            other[index] ^= 1
            #expect(!isSameSignature(String(decoding: signature, as: UTF8.self), String(decoding: other, as: UTF8.self)))
        }
    }
}
