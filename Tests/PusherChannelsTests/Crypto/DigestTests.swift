import Testing

@testable import PusherChannels

@Suite struct DigestTests {
    /// RFC 4231, as far as its keys and messages are text.
    @Test(arguments: [
        ("Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        (
            String(repeating: "\u{0b}", count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        ("", "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ])
    func hmac(key: String, message: String, digest: String) {
        #expect(hmacSHA256(message, key: key) == digest)
    }

    @Test func aKeyLongerThanABlockIsHashedFirst() {
        let long = String(repeating: "k", count: 131)
        #expect(hmacSHA256("m", key: long) != hmacSHA256("m", key: String(long.prefix(64))))
    }

    /// RFC 1321.
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"), ("abc", "900150983cd24fb0d6963f7d28e17f72"),
        ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        (String(repeating: "1234567890", count: 8), "57edf4a22be3c955ac49da2e2107b67a"),
    ])
    func md5OfText(text: String, digest: String) {
        #expect(md5(text.utf8) == digest)
    }

    @Test func hexadecimalIsLowercaseAndKeepsZeros() {
        #expect(hexadecimal([0x00, 0x0f, 0xa0, 0xff]) == "000fa0ff")
        #expect(hexadecimal([]).isEmpty)
    }
}
