import Testing

@testable import PusherChannels

/// Numbers keep their text, and are compared by their decimal values.
struct JSONNumberTests {
    private static let texts = [
        "0", "-7", "1.0", "1e2", "-2.5E-02", "9223372036854775808", "12345678901234567890.5", "1e999999999",
        "0.1000000000000000055",
    ]

    @Test(arguments: texts) func itIsWrittenAsItWas(text: String) throws {
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

    @Test func equalIsWhatHasTheSameValue() throws {
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
    func wholeNumberIsAnIntegerHoweverWritten(text: String, integer: Int?) throws {
        #expect(try JSONValue(parsing: text).integerValue == integer)
    }

    /// A power that were written out would have more digits than there is memory.
    @Test func comparingTakesTheTimeThatTheTextsTake() throws {
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
        (#"{"a":1}"#, "1"),
        (#" { "b" : 0 , "a" : [ 1, {"a":2} ] } "#, "[ 1, {\"a\":2} ]"),
        (#"{"a":"x\u0041\n"}"#, #""x\u0041\n""#),
        (#"{"\u0061":null}"#, "null"),
        (#"{"a":1,"b":2,"a":3}"#, "3"),
        (#"{"a":1.50e0}"#, "1.50e0"),
    ])
    func memberIsAsItStands(text: String, member: String) {
        #expect(rawJSONMember("a", of: text) == member)
    }

    @Test(arguments: ["{}", #"{"b":1}"#, #"{"b":{"a":1}}"#, #"{"A":1}"#])
    func objectWithoutItHasNone(text: String) {
        #expect(rawJSONMember("a", of: text) == nil)
    }

    @Test(arguments: [
        "", "null", "1", "\"a\"", "[{\"a\":1}]", #"{"a":1"#, #"{"a":1,"#, #"{"a":1,}"#, #"{"a":1} x"#, #"{"a":1}}"#,
        #"{"a":1,"b"}"#,
        #"{"a":1 "b":2}"#, #"{"a":01}"#, #"{a:1}"#,
    ])
    func whatIsNoObjectHasNone(text: String) {
        #expect(rawJSONMember("a", of: text) == nil)
    }

    @Test func absurdDepthHasNone() {
        #expect(rawJSONMember("a", of: "{\"a\":" + String(repeating: "[", count: 100_000)) == nil)
    }
}
