import Testing

@testable import PusherChannels

@Suite struct MD5Tests {
    /// RFC 1321, appendix A.5.
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"),
        ("a", "0cc175b9c0f1b6a831c399e269772661"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"),
        ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
        ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"),
        (String(repeating: "1234567890", count: 8), "57edf4a22be3c955ac49da2e2107b67a"),
    ])
    func digestIsThatOfTheRFC(text: String, digest: String) {
        #expect(md5(text.utf8) == digest)
    }

    /// The body that Pusher's HTTP API reference signs.
    @Test func digestIsThatOfTheHTTPAPIReference() {
        let body = #"{"name":"foo","channels":["project-3"],"data":"{\"some\":\"data\"}"}"#
        #expect(md5(body.utf8) == "ec365a775a4cd0599faeb73354201b6f")
    }

    @Test func anySequenceOfBytesWillDo() {
        #expect(md5([UInt8](repeating: 0, count: 16)) == "4ae71336e44bf9bf79d2752e234818a5")
        #expect(md5(repeatElement(UInt8(ascii: "a"), count: 1)) == "0cc175b9c0f1b6a831c399e269772661")
    }
}
