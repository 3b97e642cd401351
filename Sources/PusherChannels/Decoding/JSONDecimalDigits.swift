/// The value of a number whose digits `Double` can't hold: an integer times a power of ten.
///
/// Foundation converts such a number to an integer in the same way: it keeps 128 bits and leaves out digits that don't fit.
struct JSONDecimalDigits {
    private var high: UInt64 = 0
    private var low: UInt64 = 0
    private var exponent = 0
    private var isNegative = false

    /// The range of exponents: those of Foundation's `Decimal` have eight bits.
    private static let exponents = Int(Int8.min)...Int(Int8.max)

    /// Creates the value of a JSON number's digits; nil if the exponent is beyond those of `Decimal`.
    init?(_ digits: UnsafeRawBufferPointer) {
        var rest = digits[...]
        if rest.first == UInt8(ascii: "-") {
            isNegative = true
            rest.removeFirst()
        }
        let whole = rest.prefix { $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e") }
        rest = rest[whole.endIndex...]
        var isFull = false
        for digit in whole {
            if isFull || !append(digit) {
                isFull = true
                exponent += 1
            }
        }
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix { $0 | 0x20 != UInt8(ascii: "e") }
            rest = rest[fraction.endIndex...]
            for digit in fraction where !isFull {
                isFull = !append(digit)
                if !isFull { exponent -= 1 }
            }
        }
        guard Self.exponents.contains(exponent), addExponent(rest.dropFirst()) else { return nil }
    }

    /// Appends a digit; returns whether there was room for it.
    private mutating func append(_ digit: UInt8) -> Bool {
        let (carry, product) = low.multipliedFullWidth(by: 10)
        let (sum, overflow) = product.addingReportingOverflow(UInt64(digit &- UInt8(ascii: "0")))
        let (top, isTooLarge) = high.multipliedReportingOverflow(by: 10)
        let (next, isFull) = top.addingReportingOverflow(carry + (overflow ? 1 : 0))
        guard !isTooLarge, !isFull else { return false }
        (high, low) = (next, sum)
        return true
    }

    private mutating func addExponent(_ digits: some Collection<UInt8>) -> Bool {
        var written = 0
        for digit in digits where digit != UInt8(ascii: "+") && digit != UInt8(ascii: "-") {
            written = written * 10 + Int(digit &- UInt8(ascii: "0"))
            guard written <= 2 * Int(Int8.max) else { return false }
        }
        exponent += digits.first == UInt8(ascii: "-") ? -written : written
        return Self.exponents.contains(exponent)
    }

    /// The value, with trailing zeros removed until it fits into 64 bits; nil if it doesn't fit without them either.
    private var compact: (digits: UInt64, exponent: Int)? {
        var (high, low, exponent) = (high, low, exponent)
        while high > 0 {
            let (quotient, rest) = UInt64(10).dividingFullWidth((high % 10, low))
            guard rest == 0 else { return nil }
            (high, low) = (high / 10, quotient)
            exponent += 1
        }
        return (low, exponent)
    }
}

extension FixedWidthInteger {
    /// Creates the integer without the fraction; nil if a step of the conversion exceeds 64 bits.
    init?(exactly decimal: JSONDecimalDigits) {
        guard let magnitude = decimal.magnitude, let integer = Self(exactly: magnitude) else { return nil }
        guard decimal.isBelowZero else {
            self = integer
            return
        }
        guard Self.isSigned else { return nil }
        self = 0 - integer
    }
}

extension JSONDecimalDigits {
    fileprivate var isBelowZero: Bool { isNegative }

    fileprivate var magnitude: UInt64? {
        guard var (value, exponent) = compact else { return nil }
        while exponent < 0, value > 0 {
            value /= 10
            exponent += 1
        }
        while exponent > 0 {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            guard !overflow else { return nil }
            value = product
            exponent -= 1
        }
        return value
    }
}
