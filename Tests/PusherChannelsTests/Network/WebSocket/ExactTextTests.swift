import Testing

@testable import PusherChannels

@Suite struct ExactTextTests {
    // Proves W4.19.
    @Test func caseIsThatOfASCIILetters() {
        #expect("AMZ amz".isSameWord(as: "amz AMZ"))
        for (one, other) in [("@", "`"), ("[", "{"), ("\u{212A}", "k"), ("É", "é"), ("a", "ab"), ("", "a")] {
            #expect(!one.isSameWord(as: other))
        }
    }

    // Proves W4.19.
    @Test func exactIsTheSameBytes() {
        #expect("é".hasBytes(of: "é") && "".hasBytes(of: ""))
        for (one, other) in [("\u{212A}", "K"), ("e\u{301}", "é"), ("a", "A"), ("a", "ab")] {
            #expect(!one.hasBytes(of: other))
        }
    }
}
