import Foundation

extension JSONDocument {
    /// Returns the integer value of a number; nil if reading digits isn't enough to find it.
    @inline(__always)
    func plainInteger<Integer: FixedWidthInteger>(_ token: JSONToken) -> Integer? {
        guard let (magnitude, isNegative) = plainDigits(token) else { return nil }
        guard isNegative else { return Integer(exactly: magnitude) }
        if magnitude == 0 { return 0 }
        // The least integer has no positive counterpart.
        guard Integer.isSigned, let above = Integer(exactly: magnitude - 1) else { return nil }
        return -1 - above
    }

    /// Returns a number of only as many digits as always fit; nil for any other.
    private func plainDigits(_ token: JSONToken) -> (magnitude: UInt64, isNegative: Bool)? {
        let digits = text(of: token)
        let isNegative = digits[0] == UInt8(ascii: "-")
        let start = isNegative ? 1 : 0
        let count = digits.count - start
        guard count > 0, count <= 19, count == 1 || digits[start] != UInt8(ascii: "0") else { return nil }
        var magnitude: UInt64 = 0
        for offset in start..<digits.count {
            let digit = digits[offset] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            magnitude = magnitude &* 10 &+ UInt64(digit)
        }
        return (magnitude, isNegative)
    }

    /// Returns the integer value of a number, even one of many digits, with a point, or with an exponent.
    func integer<Integer: FixedWidthInteger>(_ token: JSONToken) throws(JSONError) -> Integer {
        let digits = try number(token)
        if let integer = Self.parse(digits, as: Integer.self) { return integer }
        guard let double = Double(String(decoding: digits, as: UTF8.self)), let integer = Integer(exactly: double) else {
            throw problem("a number that doesn't fit \(Integer.self)", with: token)
        }
        // From 2^53 on, `Double` can't hold every integer.
        if double.magnitude < 0x1p53 { return integer }
        guard let exact = JSONDecimalDigits(digits).map(Integer.init(exactly:)) ?? nil else {
            throw problem("a number that doesn't fit \(Integer.self)", with: token)
        }
        return exact
    }

    private static func parse<Integer: FixedWidthInteger>(_ digits: UnsafeRawBufferPointer, as type: Integer.Type) -> Integer? {
        let isNegative = digits.first == UInt8(ascii: "-")
        var integer: Integer = 0
        for byte in digits.dropFirst(isNegative ? 1 : 0) {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let product = integer.multipliedReportingOverflow(by: 10)
            let sum =
                isNegative
                ? product.partialValue.subtractingReportingOverflow(Integer(truncatingIfNeeded: digit))
                : product.partialValue.addingReportingOverflow(Integer(truncatingIfNeeded: digit))
            guard !product.overflow, !sum.overflow else { return nil }
            integer = sum.partialValue
        }
        return integer
    }

    /// Returns the text of a number after checking it, as reading it into a token did not.
    func number(_ token: JSONToken) throws(JSONError) -> UnsafeRawBufferPointer {
        var scanner = JSONScanner(bytes)
        scanner.advance(token.text.lowerBound)
        let range = try scanner.scanNumber()
        guard range.upperBound == token.text.upperBound else { throw scanner.fail("not a number") }
        return text(of: token)
    }
}

extension JSONDocument {
    /// Returns the `Double` value of a number; nil if reading digits isn't enough to find it.
    func plainDouble(_ token: JSONToken) -> Double? {  // not a mutant: the slower way finds the same
        guard let number = JSONPlainDecimal(text(of: token)), number.digits <= 1 << 53, number.exponent.magnitude <= 22 else {
            return nil
        }
        return number.value(Double(number.digits), Self.doublePowers[Int(number.exponent.magnitude)])
    }

    /// Returns the `Float` value of a number; nil if reading digits isn't enough to find it.
    func plainFloat(_ token: JSONToken) -> Float? {  // not a mutant: the slower way finds the same
        guard let number = JSONPlainDecimal(text(of: token)), number.digits <= 1 << 24, number.exponent.magnitude <= 10 else {
            return nil
        }
        return number.value(Float(number.digits), Float(Self.doublePowers[Int(number.exponent.magnitude)]))
    }

    /// The powers of ten that `Double` holds exactly.
    private static let doublePowers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
        1e22,
    ]

    /// Returns the floating-point number closest to any number, which must be neither too large nor too small for the type.
    func float<Float: BinaryFloatingPoint & LosslessStringConvertible>(_ token: JSONToken) throws(JSONError) -> Float {
        let digits = try number(token)
        guard let float = Float(String(decoding: digits, as: UTF8.self)), float.isFinite, float != 0 || Self.isZero(digits) else {
            throw problem("a number that doesn't fit \(Float.self)", with: token)
        }
        return float
    }

    /// Returns whether there are only zeros before the exponent.
    private static func isZero(_ digits: UnsafeRawBufferPointer) -> Bool {
        let isNonzero: (UInt8) -> Bool = { UInt8(ascii: "1")...UInt8(ascii: "9") ~= $0 }
        return !digits.prefix { $0 | 0x20 != UInt8(ascii: "e") }.contains(where: isNonzero)
    }

    /// Returns the `Decimal` value of a number.
    func decimal(_ token: JSONToken) throws(JSONError) -> Decimal {
        if let integer: Int64 = plainInteger(token) { return Decimal(integer) }
        guard let decimal = Decimal(string: String(decoding: try number(token), as: UTF8.self)) else {
            throw problem("a number that doesn't fit Decimal", with: token)
        }
        return decimal
    }
}
