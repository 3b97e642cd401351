import Foundation
import Testing

@testable import PusherChannels

@Suite struct PercentEncodingTests {
    private static let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"

    /// RFC 3986, 2.3, compared with Foundation's encoding.
    @Test func `Every character that isn't unreserved is percent-encoded, as by Foundation`() {
        let allowed = CharacterSet(charactersIn: Self.unreserved)
        for scalar in (0..<0x300).compactMap(Unicode.Scalar.init) {
            let text = String(scalar)
            #expect(text.percentEncoded() == text.addingPercentEncoding(withAllowedCharacters: allowed))
        }
        #expect(Self.unreserved.percentEncoded() == Self.unreserved)
    }

    @Test func `Characters that are explicitly allowed aren't percent-encoded`() {
        #expect("a=b;c/d".percentEncoded(allowing: "=;") == "a=b;c%2Fd")
    }

    @Test(
        arguments: [
            ("a+b", "a b"), ("%2b", "+"), ("%c3%A9", "é"), ("a&b", "a&b"), ("%", nil), ("%4", nil), ("%4g", nil), ("%g4", nil),
            ("a%", nil), ("%ff", nil), ("%c3", nil),
        ] as [(String, String?)])
    func `A form's plus sign is a space, escapes are characters, and broken ones are refused`(text: String, meaning: String?) {
        #expect(formDecoded(text.utf8) == meaning)
    }
}
