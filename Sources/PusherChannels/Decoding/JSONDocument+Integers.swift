extension JSONDocument {
    /// The integer that a number is. Nil where it takes more to find out than reading digits.
    @inline(__always)
    func plainInteger<Integer: FixedWidthInteger>(_ token: JSONToken) -> Integer? {
        guard let (magnitude, isNegative) = plainDigits(token) else { return nil }
        guard isNegative else { return Integer(exactly: magnitude) }
        if magnitude == 0 { return 0 }
        // The least integer has no positive counterpart.
        guard Integer.isSigned, let above = Integer(exactly: magnitude - 1) else { return nil }
        return -1 - above
    }

    /// As many digits as always fit.
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

    /// The integer that a number is, also one of many digits, with a point or an exponent.
    func integer<Integer: FixedWidthInteger>(_ token: JSONToken) throws(JSONError) -> Integer {
        let digits = try number(token)
        if let integer = Self.parse(digits, as: Integer.self) { return integer }
        guard let double = Double(String(decoding: digits, as: UTF8.self)), let integer = Integer(exactly: double) else {
            throw problem("a number that is no \(Integer.self)", with: token)
        }
        // From 2^53 on `Double` doesn't hold each integer.
        if double.magnitude < 0x1p53 { return integer }
        guard let exact = JSONDecimalDigits(digits).map(Integer.init(exactly:)) ?? nil else {
            throw problem("a number that is no \(Integer.self)", with: token)
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

    /// The text of a number, which reading it into a token did not look at.
    func number(_ token: JSONToken) throws(JSONError) -> UnsafeRawBufferPointer {
        var scanner = JSONScanner(bytes)
        scanner.advance(token.text.lowerBound)
        let (range, _) = try scanner.scanNumber()
        guard range.upperBound == token.text.upperBound else { throw scanner.fail("not a number") }
        return text(of: token)
    }
}
