import Testing

@testable import PusherChannels

/// Texts made for the types that the decoders are compared with.
enum DecodedDocuments {
    static let all = [
        #"{"a":1,"b":[{"a":1.5,"b":true},{"a":-2e3}],"c":"x"}"#,
        #"{"b":{"c":"x","d":1.5}}"#,
        #"[{"a":{"_0":5}},{"e":{}}]"#,
        #"{"b":"x","super":{"a":7}}"#,
        #"{"a":12345.5,"b":"aGVsbG8=","c":"https://x.y/z","d":1.25,"e":[1,2],"f":"b"}"#,
        #"{"a":{"b":"c"},"c":{"d":null}}"#,
        #"{"1":2.5,"2":3}"#,
        #"["1.5",1,"b",2]"#,
        #"[1,null,"a",[1],{"a":1},2.5,true,"http://a"]"#,
        #"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10,"k":1.5,"l":2.5,"m":true,"n":"x","o":11,"p":12,"a":9}"#,
        #"{"a":-129,"b":128,"c":32768,"d":-2147483649,"f":-1,"g":256}"#,
        #"{"a":null,"b":null,"k":null,"m":null,"n":null}"#,
        #"{"\u0061":1,"a":2,"b\n":3}"#,
        #"[9007199254740993.0,1e16,1e18,1e19,9007199254740993.5,18446744073709551615]"#,
        #"[9007199254740993.00000000000000000000001,90071992547409930000000000000000000000000e-25]"#,
        #"[170141183460469231731687303715884105727,-170141183460469231731687303715884105728]"#,
        #"[[1.5,2],[3e38,1e-45],[16777217,0.1,3.4028236e38]]"#,
        "340282366920938463463374607431768211455", "1e-400", "1e-46", "1e39", "4.9e-324", "1.0", "-0", "-0.0", "300", "1e3",
        "12345678901234567890123456789012345678901234567890", "1e127", "1e128", "1e-128", "-1.5e-127",
        // The last digit would fit in the place of the one before, which doesn't.
        "3402823669209384634633746074317682114593",
        // Twenty digits whose value would be small if only 64 bits of it were kept.
        "18446744073709551617", "1844674407370955161.7",
        #""YQ==""#, #""YQ=\u003d""#, #""YQ""#, #""https://example.com/é""#, #""half \ud800""#, "\"control \u{1}\"",
        #""\ud83d\ude00\u0000""#,
        "\u{FEFF}[1,]", "\u{FEFF}\u{FEFF}1", "{\"a\":01,\"b\":\"\\x\"}", "{\"a\\ud800\":1}",
        JSONDocuments.nested("[", "]", depth: 512), JSONDocuments.nested("[", "]", depth: 513),
        JSONDocuments.nested("{\"a\":", "}", depth: 512, inner: "1"),
        JSONDocuments.nested("{\"a\":", "}", depth: 513, inner: "1"),
    ]
}

@Suite struct JSONDecimalDigitsTests {
    @Test(
        arguments: [
            ("9007199254740993.0", 9_007_199_254_740_993), ("-9007199254740993.9", -9_007_199_254_740_993),
            ("1e18", 1_000_000_000_000_000_000), ("10E+17", 1_000_000_000_000_000_000),
            ("1234567890123456789e0", 1_234_567_890_123_456_789),
            // More digits than fit into 128 bits, and zeros that don't count.
            ("90071992547409930000000000000000000000000000e-28", 9_007_199_254_740_993),
            ("9007199254740993.000000000000000000000000001", 9_007_199_254_740_993),
            ("1e19", nil), ("123456789012345678901", nil), ("1e200", nil), ("1e-200", nil), ("1e99999999999999999999", nil),
            ("12345678901234567890123456789.5", nil),
        ] as [(String, Int?)])
    func `A number with a fraction or an exponent has an exact integer part within the limits`(number: String, integer: Int?) {
        #expect(value(number, as: Int.self) == integer)
    }

    @Test func `A negative number gives no unsigned integer`() {
        #expect(value("-1e18", as: UInt64.self) == nil)
        #expect(value("1e19", as: UInt64.self) == 10_000_000_000_000_000_000)
    }

    private func value<Integer: FixedWidthInteger>(_ number: String, as type: Integer.Type) -> Integer? {
        Array(number.utf8).withUnsafeBytes { JSONDecimalDigits($0).flatMap { Integer(exactly: $0) } }
    }
}
