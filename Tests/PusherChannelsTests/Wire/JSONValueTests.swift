import Foundation
import Testing

@testable import PusherChannels

@Suite struct JSONValueTests {
    @Test(
        arguments: [
            ("null", .null), ("true", true), ("false", false), ("0", 0), ("-0", 0), ("-7", -7),
            ("9223372036854775807", .integer(.max)), ("9223372036854775808", .double(9.223372036854775807e18)),
            ("1.5", .double(1.5)), ("-2.5E-3", .double(-0.0025)), ("1e2", .double(100)), ("\"\"", ""), ("[]", []), ("{}", [:]),
            (" \t\r\n[ 1 , [ ] , { \"a\" : null } ] \n", [1, [], ["a": .null]]),
            (#"{"a":1,"a":2}"#, ["a": 2]), (#"{"\u0061":1}"#, ["a": 1]),
        ] as [(String, JSONValue)])
    func isRead(text: String, value: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == value)
    }

    @Test(arguments: [
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"), (#""\u0041\u00e9\u20AC""#, "Aé€"), (#""\ud83d\ude42""#, "🙂"),
        (#""\u0000""#, "\u{0}"), (#""é🙂""#, "é🙂"), (#""/""#, "/"), ("\"\u{7f}\u{2028}\"", "\u{7f}\u{2028}"),
        // Half of a pair stands for nothing; JavaScript servers send it all the same.
        (#""\ud83d""#, "\u{FFFD}"), (#""\ude42""#, "\u{FFFD}"), (#""\ud83d\ud83d\ude42""#, "\u{FFFD}🙂"),
        (#""\ud83dx""#, "\u{FFFD}x"), (#""\ud83d\n""#, "\u{FFFD}\n"),
    ])
    func stringsAreUnescaped(text: String, string: String) throws {
        #expect(try JSONValue(parsing: text) == .string(string))
    }

    @Test(arguments: [
        "", " ", "nul", "nulll", "True", "+1", "01", "-", "1.", ".5", "1e", "1e+", "NaN", "Infinity", "0x10", "1 2", "\"", "\"a",
        #""\x""#, #""\u12""#, #""\u12g4""#, "\"\n\"", "\"\u{1f}\"", "'a'", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "]", "{",
        #"{"a""#, #"{"a":"#, #"{"a":1"#, #"{"a":1,"#, #"{"a":1,}"#, "{1:2}", "{a:1}", #"{"a" 1}"#, #"{"a":1]"#, "\u{FEFF}1",
        "1\u{0}", "// c\n1", "tru\u{0}",
    ])
    func anythingElseIsRefused(text: String) {
        #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
    }

    @Test func errorsSayWhere() {
        #expect(throws: JSONError.self) { try JSONValue(parsing: #"{"a":x}"#) }
        do throws(JSONError) {
            _ = try JSONValue(parsing: #"{"a":x}"#)
        } catch {
            #expect("\(error)" == "expected a value at byte 5")
        }
    }

    @Test(arguments: ["[", #"{"a":"#])
    func nestingHasALimit(opening: String) {
        let deep = String(repeating: opening, count: 100_000)
        #expect(throws: JSONError.self) { try JSONValue(parsing: deep) }
    }

    @Test func reasonableNestingIsRead() throws {
        let depth = 100
        let value = try JSONValue(parsing: String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
        #expect(value.arrayValue?.count == 1)
    }

    @Test func aLongStringIsRead() throws {
        let long = String(repeating: "aé\\n", count: 250_000)
        #expect(try JSONValue(parsing: "\"\(long)\"").stringValue?.unicodeScalars.count == 750_000)
    }

    @Test func whatIsWrittenIsReadBack() throws {
        let value: JSONValue = [
            "null": .null, "bools": [true, false],
            "numbers": [0, -1, .integer(.max), .double(0.1), .double(1e300), .double(-2e-308)],
            "string": "\"\\\u{0}\u{1f}\n\r\té🙂\u{2028}/", "nested": ["empty": [:], "list": [[]]],
        ]
        #expect(try JSONValue(parsing: value.text) == value)
        #expect(try JSONSerialization.jsonObject(with: Data(value.text.utf8)) is [String: Any])
    }

    @Test func numbersOfEveryFormAreIntegersWhereTheyCanBe() throws {
        #expect(try JSONValue(parsing: "4001").integerValue == 4001)
        #expect(try JSONValue(parsing: "4001.0").integerValue == 4001)
        #expect(try JSONValue(parsing: "4.5").integerValue == nil)
        #expect(try JSONValue(parsing: "1e300").integerValue == nil)
        #expect(try JSONValue(parsing: "\"7\"").identifier == "7")
        #expect(try JSONValue(parsing: "7").identifier == "7")
    }
}
