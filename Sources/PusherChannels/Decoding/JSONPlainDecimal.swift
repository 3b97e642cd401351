/// A number of few digits: an integer times a small power of ten.
///
/// If a floating-point type holds the digits and the power exactly, one multiplication or division gives the closest value.
struct JSONPlainDecimal {
    private(set) var digits: UInt64 = 0
    private(set) var exponent = 0
    private var isNegative = false

    /// Creates a number from a text; nil if it isn't a number, or has more than 19 digits, or more than two in its exponent.
    init?(_ text: UnsafeRawBufferPointer) {
        var position = 0
        if text[0] == UInt8(ascii: "-") {
            isNegative = true
            position = 1
        }
        let start = position
        readDigits(text, &position)
        let whole = position - start
        guard whole > 0, whole == 1 || text[start] != UInt8(ascii: "0") else { return nil }
        var fraction = 0
        if position < text.count, text[position] == UInt8(ascii: ".") {
            position += 1
            let point = position
            readDigits(text, &position)
            fraction = position - point
            guard fraction > 0 else { return nil }
        }
        guard whole + fraction <= 19 else { return nil }
        if position < text.count {
            guard text[position] | 0x20 == UInt8(ascii: "e"), let written = Self.exponent(text, position + 1) else { return nil }
            exponent = written
        }
        exponent -= fraction
    }

    private mutating func readDigits(_ text: UnsafeRawBufferPointer, _ position: inout Int) {
        while position < text.count {
            let digit = text[position] &- UInt8(ascii: "0")
            guard digit < 10 else { return }
            digits = digits &* 10 &+ UInt64(digit)
            position += 1
        }
    }

    private static func exponent(_ text: UnsafeRawBufferPointer, _ start: Int) -> Int? {
        var position = start
        guard position < text.count else { return nil }
        let isNegative = text[position] == UInt8(ascii: "-")
        if isNegative || text[position] == UInt8(ascii: "+") { position += 1 }
        guard position < text.count, text.count - position <= 2 else { return nil }
        var exponent = 0
        while position < text.count {
            let digit = text[position] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            exponent = exponent * 10 + Int(digit)
            position += 1
        }
        return isNegative ? -exponent : exponent
    }

    @inline(__always)
    func value<Float: BinaryFloatingPoint>(_ digits: Float, _ power: Float) -> Float {
        let magnitude = exponent < 0 ? digits / power : digits * power
        return isNegative ? -magnitude : magnitude
    }
}
