import Testing

@testable import PusherChannels

@Suite struct JSONDecimalDigitsTests {
    @Test(arguments: [
        ("9007199254740993.0", 9_007_199_254_740_993), ("-9007199254740993.9", -9_007_199_254_740_993),
        ("1e18", 1_000_000_000_000_000_000), ("10E+17", 1_000_000_000_000_000_000),
        ("1234567890123456789e0", 1_234_567_890_123_456_789),
        // More digits than fit into 128 bits, and zeros that don't count.
        ("90071992547409930000000000000000000000000000e-28", 9_007_199_254_740_993),
        ("9007199254740993.000000000000000000000000001", 9_007_199_254_740_993),
    ])
    func integerIsExact(number: String, integer: Int) {
        #expect(value(number, as: Int.self) == integer)
    }

    @Test(arguments: [
        "1e19", "123456789012345678901", "1e200", "1e-200", "1e99999999999999999999", "12345678901234567890123456789.5",
    ])
    func integerThatDoesNotFitIsNone(number: String) {
        #expect(value(number, as: Int.self) == nil)
    }

    @Test func negativeIntegerIsNoneOfAnUnsignedType() {
        #expect(value("-1e18", as: UInt64.self) == nil)
        #expect(value("1e19", as: UInt64.self) == 10_000_000_000_000_000_000)
    }

    private func value<Integer: FixedWidthInteger>(_ number: String, as type: Integer.Type) -> Integer? {
        Array(number.utf8).withUnsafeBytes { JSONDecimalDigits($0).flatMap { Integer(exactly: $0) } }
    }
}
