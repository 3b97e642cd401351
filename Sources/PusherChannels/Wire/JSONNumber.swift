/// A number of a JSON document, as it was written.
///
/// `Double` keeps 15 digits of any number, so a number that passes through it may become another one. Two numbers are equal if
/// their decimal values are, however they are written: `1`, `1.0` and `10e-1`.
package struct JSONNumber: Sendable {
    /// The number as JSON.
    package let text: String

    /// Creates a number from a text that was read before.
    init(wellFormed text: String) {
        self.text = text
    }

    package init(_ integer: Int) {
        text = String(integer)
    }

    /// Creates a number with the fewest digits that stand for this one; nil for one that JSON can't write.
    package init?(_ double: Double) {
        guard double.isFinite else { return nil }
        text = "\(double)"
    }

    /// The number as an integer; nil if it has a fraction or is too large.
    package var integer: Int? { Int(text) ?? DecimalValue(text).integer }
}

extension JSONNumber: Equatable {
    package static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        left.text.hasBytes(of: right.text) || DecimalValue(left.text) == DecimalValue(right.text)
    }
}

/// The value of a number in the only form that it has: `0.digits` times a power of ten, without zeros at either end of the digits.
///
/// No power is written out, so it takes the time that the text takes.
private struct DecimalValue: Equatable {
    private var isNegative = false
    private var digits: ArraySlice<UInt8>
    /// The exponent of the power; zero has none.
    private var exponent: [UInt8] = []

    /// Creates the value of a well-formed number.
    init(_ text: String) {
        let number = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
        let whole = number.prefix { $0 != UInt8(ascii: ".") }.drop { $0 == UInt8(ascii: "-") }
        let all = Array(whole) + number[whole.endIndex...].dropFirst()
        digits = all.drop { $0 == UInt8(ascii: "0") }
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        guard !digits.isEmpty else { return }
        isNegative = text.utf8.first == UInt8(ascii: "-")
        exponent = Self.sum(of: text.utf8[number.endIndex...].dropFirst(), whole.count - digits.startIndex)
    }

    /// Returns the sum of a written integer, of which there may be any number of digits, and one that is no larger than a text's
    /// length.
    private static func sum(of written: Substring.UTF8View, _ number: Int) -> [UInt8] {
        let isNegative = written.first == UInt8(ascii: "-")
        if let small = written.isEmpty ? 0 : Int(Substring(written)) {
            let (sum, overflow) = small.addingReportingOverflow(number)
            if !overflow { return Array(String(sum).utf8) }
        }
        var digits = Array(written.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") })
        var carry = isNegative ? -number : number
        for index in digits.indices.reversed() {
            carry += Int(digits[index] - UInt8(ascii: "0"))
            let digit = (carry % 10 + 10) % 10
            digits[index] = UInt8(ascii: "0") + UInt8(digit)
            carry = (carry - digit) / 10
        }
        digits = Array(String(carry).utf8) + digits
        return (isNegative ? [UInt8(ascii: "-")] : []) + digits.drop { $0 == UInt8(ascii: "0") }
    }

    /// The value as an integer; nil if it has a fraction or is too large.
    var integer: Int? {
        guard !digits.isEmpty else { return 0 }
        // `Int` has 19 digits at most.
        guard let places = Int(String(decoding: exponent, as: UTF8.self)), places <= 19, places >= digits.count else {
            return nil
        }
        let zeros = [UInt8](repeating: UInt8(ascii: "0"), count: places - digits.count)
        return Int((isNegative ? "-" : "") + String(decoding: digits + zeros, as: UTF8.self))
    }
}
