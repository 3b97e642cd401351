import Testing

@testable import PusherChannels

@Suite struct JSONStringTests {
    private func string(_ bytes: some Sequence<UInt8>) -> Result<String, JSONError> {
        JSONScanner.read(bytes) { scanner throws(JSONError) in scanner.string(try scanner.scanString()) }
    }

    // MARK: Reading

    @Test(arguments: [
        (#""""#, ""),
        (#""plain""#, "plain"),
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
        (#""\u0041\u00e9\u00E9\u20ac\u0000""#, "Aéé€\u{0}"),
        (#""\ud83d\ude42""#, "🙂"),
        (#""\uD834\uDD1E \uDBFF\uDFFF \uD800\uDC00""#, "𝄞 \u{10FFFF} \u{10000}"),
        (#""a\\u0041""#, "a\\u0041"),
        (#""\\\\""#, "\\\\"),
        (#""\uFFFF\uFEFF""#, "\u{FFFF}\u{FEFF}"),
        ("\"é🙂\u{7F}\u{2028}\"", "é🙂\u{7F}\u{2028}"),
    ])
    func escapesStandForTheirCharacters(text: String, expected: String) {
        #expect(string(text.utf8) == .success(expected))
    }

    @Test(arguments: [
        (#""\ud800""#, "\u{FFFD}"),
        (#""\udfff""#, "\u{FFFD}"),
        (#""a\ud83dz""#, "a\u{FFFD}z"),
        (#""\ud83d\n""#, "\u{FFFD}\n"),
        (#""\ud83d\u0041""#, "\u{FFFD}A"),
        (#""\ud83d\ud83d\ude42""#, "\u{FFFD}🙂"),
        (#""\ude42\ud83d""#, "\u{FFFD}\u{FFFD}"),
        (#""\ud83d\\ude42""#, "\u{FFFD}\\ude42"),
    ])
    func halfOfASurrogatePairIsReplaced(text: String, expected: String) {
        #expect(string(text.utf8) == .success(expected))
    }

    @Test(
        arguments: [
            ([0x61, 0xFF, 0x62], "a\u{FFFD}b"), ([0xC3], "\u{FFFD}"), ([0xC3, 0xA9], "é"),
            ([0x5C, 0x6E, 0xFF], "\n\u{FFFD}"), ([0x5C, 0x6E, 0xE2, 0x82], "\n\u{FFFD}"),
        ] as [([UInt8], String)])
    func bytesThatAreNoTextAreReplaced(content: [UInt8], expected: String) {
        #expect(string([0x22] + content + [0x22]) == .success(expected))
    }

    /// Eight bytes are looked at at once.
    @Test(arguments: ["", "~", "é", "🙂", "\u{7F}"])
    func escapesAreResolvedWhereverTheyStand(beside: String) {
        for before in 0...17 {
            for after in 0...9 {
                let (head, tail) = (String(repeating: "~", count: before) + beside, beside + String(repeating: "~", count: after))
                #expect(string("\"\(head)\\n\(tail)\"".utf8) == .success("\(head)\n\(tail)"))
            }
        }
    }

    @Test func megabyteOfEscapesIsRead() {
        let text = "\"" + String(repeating: #"plain text \n \ud83d\ude42 "#, count: 38_000) + "\""
        #expect(string(text.utf8) == .success(String(repeating: "plain text \n 🙂 ", count: 38_000)))
    }

    @Test func textOfARangeIsAsSent() {
        let text = JSONScanner.read(#"  {"a" : "\u0041"} "#.utf8) { scanner throws(JSONError) in
            scanner.skipWhitespace()
            let start = scanner.position
            try scanner.skipValue()
            return scanner.text(start..<scanner.position)
        }
        #expect(text == .success(#"{"a" : "\u0041"}"#))
    }

    // MARK: Writing

    @Test(arguments: [
        ("", #""""#),
        ("plain", #""plain""#),
        (#"a "b" c"#, #""a \"b\" c""#),
        (#"back\slash/slash"#, #""back\\slash/slash""#),
        ("\n\r\t\r\n", #""\n\r\t\r\n""#),
        ("\u{0}\u{8}\u{C}\u{1F}", #""\u0000\u0008\u000c\u001f""#),
        ("é🙂\u{7F}\u{2028}", "\"é🙂\u{7F}\u{2028}\""),
        (#"{"a":"\n"}"#, #""{\"a\":\"\\n\"}""#),
    ])
    func onlyWhatMustBeIsEscaped(string: String, expected: String) {
        #expect(string.quotedJSON == expected)
    }

    @Test func everythingWrittenIsReadBack() {
        let scalars =
            (UInt32(0)..<0x3000).compactMap(Unicode.Scalar.init) + [
                "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}",
            ]
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        let read = string(String(text).quotedJSON.utf8).map { Array($0.unicodeScalars) }
        #expect(read == .success(scalars))
    }
}
