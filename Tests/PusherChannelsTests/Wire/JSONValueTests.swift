import Testing

@testable import PusherChannels

@Suite struct JSONValueTests {
    @Test(
        arguments: [
            ("null", .null), ("true", true), ("false", false), ("\"s\"", "s"), ("[]", []), ("{}", [:]),
            (" [ 1 , [ ] , { } ] ", [1, [], [:]]),
            ("\t{\"a\" :\r\n[true,null,\"x\"]}\n", ["a": [true, .null, "x"]]),
            (#"{"a":{"b":{"c":-1}}}"#, ["a": ["b": ["c": -1]]]),
            (#"{"\u0061":1,"é":2,"":3}"#, ["a": 1, "é": 2, "": 3]),
            (#""{\"a\":1}""#, #"{"a":1}"#),
        ] as [(String, JSONValue)])
    func `A JSON document is parsed to its value`(text: String, value: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == value)
    }

    @Test(
        arguments: [
            (.null, "null"), (true, "true"), (-1, "-1"), (.double(0.5), "0.5"), (.double(1e300), "1e+300"),
            ("a\"b\n", #""a\"b\n""#),
            ([], "[]"), ([1, [.null, "x"]], #"[1,[null,"x"]]"#),
            ([:], "{}"), (["b": 1, "a": ["c": false]], #"{"a":{"c":false},"b":1}"#),
            (.double(.infinity), "null"), (.double(.nan), "null"),
        ] as [(JSONValue, String)])
    func `A JSON value's text is compact and has its members in order`(value: JSONValue, text: String) {
        #expect(value.text == text)
    }

    @Test(arguments: JSONDocuments.valid)
    func `A JSON value's text is parsed back to the same value`(document: String) throws {
        let value = try JSONValue(parsing: document)
        #expect(try JSONValue(parsing: value.text) == value)
    }
}

/// Numbers keep their text, and are compared by their decimal values.
struct JSONNumberTests {
    @Test(arguments: [
        "0", "-7", "1.0", "1e2", "-2.5E-02", "9223372036854775808", "12345678901234567890.5", "1e999999999",
        "0.1000000000000000055",
    ])
    func `A JSON number is written as it was read`(text: String) throws {
        #expect(try JSONValue(parsing: text).text == text)
        #expect(try JSONValue(parsing: "[\(text)]").text == "[\(text)]")
    }

    /// In each line, the numbers are equal, and differ from those of all others.
    private static let values = [
        ["0", "-0", "0.0", "-0e5", "0e99999999999999999999"], ["1", "1.0", "10e-1", "0.1e+1", "1e0", "0.001E03"],
        ["100", "1e2", "100.00", "0.1e3"], ["-100", "-1e2"], ["1234567890123456789012"], ["1234567890123456800000"],
        ["0.1", "1e-1", "0.10"], ["0.1000000000000000055"], ["9007199254740993", "9007199254740993.0"], ["9007199254740992"],
        ["1e400", "10e399"], ["1e401"], ["-1e400"], ["1e-400"], ["1e999999999", "100e999999997", "0.1e1000000000"],
        ["1e-999999999"],
        ["1e9223372036854775807", "10e9223372036854775806", "0.01e9223372036854775809"],
        ["1e10000000000000000000", "10e9999999999999999999", "0.1e+010000000000000000001"], ["1e10000000000000000001"],
        ["1e-10000000000000000000", "0.1e-9999999999999999999"],
    ]

    @Test func `JSON numbers are equal exactly if their decimal values are, however they are written`() throws {
        for (line, texts) in Self.values.enumerated() {
            for (other, others) in Self.values.enumerated() {
                for (left, right) in texts.flatMap({ text in others.map { (text, $0) } }) {
                    #expect(
                        (try JSONValue(parsing: left) == JSONValue(parsing: right)) == (line == other), "\(left) and \(right)")
                }
            }
        }
    }

    @Test(
        arguments: [
            ("3", 3), ("3.0", 3), ("3e2", 300), ("-12.50e1", -125), ("0.0e77", 0), ("9223372036854775807", .max),
            ("9007199254740993.0", 9_007_199_254_740_993), ("-9223372036854775.808e3", .min), ("9223372036854775808", nil),
            ("3.5", nil), ("1e-1", nil), ("1e19", nil), ("1e400", nil), ("1e99999999999999999999", nil),
            ("1.000000000000000000001", nil), ("\"3\"", 3), ("\"x\"", nil), ("true", nil), ("null", nil),
        ] as [(String, Int?)])
    func `A whole JSON number is an integer, however it is written`(text: String, integer: Int?) throws {
        #expect(try JSONValue(parsing: text).integerValue == integer)
    }

    /// A power that were written out would have more digits than there is memory.
    @Test func `JSON numbers with huge exponents are compared without being written out`() throws {
        let digits = String(repeating: "9", count: 100_000)
        for text in ["1e999999999999999999", "1e\(digits)", "\(digits)e\(digits)", "0.\(digits)e0", "1\(digits)e-1"] {
            let number = try JSONValue(parsing: text)
            #expect(try number == JSONValue(parsing: text.replacing("e-", with: "e-0").replacing("e9", with: "e+09")))
            #expect(number != 1)
        }
    }
}

@Suite struct JSONRawMemberTests {
    @Test(arguments: [
        (#"{"a":1}"#, "1"), (#" { "b" : 0 , "a" : [ 1, {"a":2} ] } "#, "[ 1, {\"a\":2} ]"),
        (#"{"a":"x\u0041\n"}"#, #""x\u0041\n""#), (#"{"\u0061":null}"#, "null"), (#"{"a":1,"b":2,"a":3}"#, "3"),
        (#"{"a":1.50e0}"#, "1.50e0"),
    ])
    func `A raw JSON member is the text as it stands in the document`(text: String, member: String) {
        #expect(rawJSONMember("a", of: text) == member)
    }

    @Test(arguments: [
        "", "null", "1", "\"a\"", "[{\"a\":1}]", #"{"a":1"#, #"{"a":1,"#, #"{"a":1,}"#, #"{"a":1} x"#, #"{"a":1}}"#,
        #"{"a":1,"b"}"#, #"{"a":1 "b":2}"#, #"{"a":01}"#, #"{a:1}"#, "{\"a\":" + String(repeating: "[", count: 100_000),
        // These objects don't have it.
        "{}", #"{"b":1}"#, #"{"b":{"a":1}}"#, #"{"A":1}"#,
    ])
    func `A text that isn't a JSON object, is nested too deeply, or doesn't have the member, has no raw member`(text: String) {
        #expect(rawJSONMember("a", of: text) == nil)
    }
}

@Suite struct JSONStringTests {
    private func string(_ bytes: some Sequence<UInt8>) -> Result<String, JSONError> {
        JSONScanner.read(bytes) { scanner throws(JSONError) in scanner.string(try scanner.scanString()) }
    }

    @Test(arguments: [
        (#""""#, ""), (#""plain""#, "plain"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
        (#""\u0041\u00e9\u00E9\u20ac\u0000""#, "Aéé€\u{0}"),
        (#""\ud83d\ude42""#, "🙂"), (#""\uD834\uDD1E \uDBFF\uDFFF \uD800\uDC00""#, "𝄞 \u{10FFFF} \u{10000}"),
        (#""a\\u0041""#, "a\\u0041"), (#""\\\\""#, "\\\\"), (#""\uFFFF\uFEFF""#, "\u{FFFF}\u{FEFF}"),
        ("\"é🙂\u{7F}\u{2028}\"", "é🙂\u{7F}\u{2028}"),
        // Half of a surrogate pair is replaced.
        (#""\ud800""#, "\u{FFFD}"), (#""\udfff""#, "\u{FFFD}"), (#""a\ud83dz""#, "a\u{FFFD}z"), (#""\ud83d\n""#, "\u{FFFD}\n"),
        (#""\ud83d\u0041""#, "\u{FFFD}A"), (#""\ud83d\ud83d\ude42""#, "\u{FFFD}🙂"),
        (#""\ude42\ud83d""#, "\u{FFFD}\u{FFFD}"), (#""\ud83d\\ude42""#, "\u{FFFD}\\ude42"),
    ])
    func `Escapes in a JSON string are characters, and halves of surrogate pairs are replaced`(text: String, expected: String) {
        #expect(string(text.utf8) == .success(expected))
    }

    @Test(
        arguments: [
            ([0x61, 0xFF, 0x62], "a\u{FFFD}b"), ([0xC3], "\u{FFFD}"), ([0xC3, 0xA9], "é"),
            ([0x5C, 0x6E, 0xFF], "\n\u{FFFD}"), ([0x5C, 0x6E, 0xE2, 0x82], "\n\u{FFFD}"),
        ] as [([UInt8], String)])
    func `Invalid UTF-8 in a JSON string is replaced`(content: [UInt8], expected: String) {
        #expect(string([0x22] + content + [0x22]) == .success(expected))
    }

    /// Eight bytes are looked at at once.
    @Test(arguments: ["", "~", "é", "🙂", "\u{7F}"])
    func `An escape is resolved at any position in a JSON string`(beside: String) {
        for before in 0...17 {
            for after in 0...9 {
                let (head, tail) = (String(repeating: "~", count: before) + beside, beside + String(repeating: "~", count: after))
                #expect(string("\"\(head)\\n\(tail)\"".utf8) == .success("\(head)\n\(tail)"))
            }
        }
    }

    @Test(arguments: [
        ("", #""""#), ("plain", #""plain""#), (#"a "b" c"#, #""a \"b\" c""#), (#"back\slash/slash"#, #""back\\slash/slash""#),
        ("\n\r\t\r\n", #""\n\r\t\r\n""#),
        ("\u{0}\u{8}\u{C}\u{1F}", #""\u0000\u0008\u000c\u001f""#),
        ("é🙂\u{7F}\u{2028}", "\"é🙂\u{7F}\u{2028}\""),
        (#"{"a":"\n"}"#, #""{\"a\":\"\\n\"}""#),
    ])
    func `Only quotes, backslashes, and control characters of a JSON string are escaped`(string: String, expected: String) {
        #expect(string.quotedJSON == expected)
    }

    @Test func `Every character written in a JSON string is read back`() {
        let rare: [Unicode.Scalar] = ["\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}"]
        let scalars = (UInt32(0)..<0x3000).compactMap(Unicode.Scalar.init) + rare
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        let read = string(String(text).quotedJSON.utf8).map { Array($0.unicodeScalars) }
        #expect(read == .success(scalars))
    }
}
