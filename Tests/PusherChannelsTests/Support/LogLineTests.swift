import PusherChannels
import Testing

/// A server's texts in log lines.
@Suite struct LogLineTests {
    @Test(arguments: [
        ("", ""), ("room", "room"), ("caf\u{E9} 🙂", "caf\u{E9} 🙂"),
        ("one\ntwo\r", #"one\u{a}two\u{d}"#), ("\u{1B}[2J", #"\u{1b}[2J"#), ("a\u{0}b\u{7F}\u{85}", #"a\u{0}b\u{7f}\u{85}"#),
        ("a\u{2028}b", #"a\u{2028}b"#), ("\u{202E}evil\u{2066}", #"\u{202e}evil\u{2066}"#),
        ("a\u{200E}b\u{200F}c\u{61C}", #"a\u{200e}b\u{200f}c\u{61c}"#), ("a\u{200B}b\u{FEFF}", #"a\u{200b}b\u{feff}"#),
        ("a\u{AD}b\u{E0041}", #"a\u{ad}b\u{e0041}"#),
    ])
    func whatWouldBeginALineOrTurnItRoundIsEscaped(text: String, line: String) {
        #expect(text.inLogLine() == line)
    }

    @Test(arguments: [
        ("", #""""#), ("room", "room"), ("private-a,b;c=d@e.f", "private-a,b;c=d@e.f"), ("1.350s", "1.350s"), ("a b", #""a b""#),
        (#"say "no""#, #""say \"no\"""#), (#"a\b"#, #""a\\b""#), (#"\" channel=x"#, #""\\\" channel=x""#),
        ("caf\u{E9}", "\"caf\u{E9}\""),
        ("a\u{A0}b=c", "\"a\u{A0}b=c\""), ("one\ntwo", #""one\u{a}two""#), ("\u{7F}", #""\u{7f}""#),
    ])
    func aValueIsOnePlainWordOrInQuotationMarks(text: String, value: String) {
        #expect(text.asLogValue() == value)
    }

    @Test func aLongValueIsCut() {
        #expect(String(repeating: "a", count: 200).asLogValue() == String(repeating: "a", count: 200))
        #expect(String(repeating: "a", count: 201).asLogValue() == "\"" + String(repeating: "a", count: 200) + "…\"")
        #expect(String(repeating: "\"", count: 1 << 20).asLogValue(upTo: 2) == #""\"\"…""#)
    }

    @Test func aLongTextIsCut() {
        #expect(String(repeating: "a", count: 200).inLogLine() == String(repeating: "a", count: 200))
        #expect(String(repeating: "a", count: 201).inLogLine() == String(repeating: "a", count: 200) + "…")
        #expect(String(repeating: "\n", count: 2).inLogLine(upTo: 2) == #"\u{a}\u{a}"#)
        #expect(String(repeating: "\n", count: 1 << 20).inLogLine(upTo: 2) == #"\u{a}\u{a}…"#)
        let marks = "e" + String(repeating: "\u{301}", count: 1 << 20)
        #expect(marks.inLogLine().unicodeScalars.count == 201, "what is one character to Swift may be megabytes")
    }

    @Test func whatAnErrorSaysIsOneLine() {
        let text = "no\n\u{1B}[31m" + String(repeating: "x", count: 1 << 20)
        let messages = [PusherError(.server, message: text).message, TransportError(.unreachable, text).message]
        for message in messages {
            #expect(message.hasPrefix(#"no\u{a}\u{1b}[31mxxx"#))
            #expect(message.count < 1100)
        }
    }
}
