import Foundation

extension JSONDocument {
    /// The `Double` that a number is; nil where it takes more to find out than reading digits.
    func plainDouble(_ token: JSONToken) -> Double? {
        guard let number = JSONPlainDecimal(text(of: token)), number.digits <= 1 << 53, number.exponent.magnitude <= 22 else {
            return nil
        }
        return number.value(Double(number.digits), Self.doublePowers[Int(number.exponent.magnitude)])
    }

    /// The `Float` that a number is; nil where it takes more to find out than reading digits.
    func plainFloat(_ token: JSONToken) -> Float? {
        guard let number = JSONPlainDecimal(text(of: token)), number.digits <= 1 << 24, number.exponent.magnitude <= 10 else {
            return nil
        }
        return number.value(Float(number.digits), Float(Self.doublePowers[Int(number.exponent.magnitude)]))
    }

    /// Those that `Double` holds exactly.
    private static let doublePowers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
        1e22,
    ]

    /// The floating-point number closest to any number, which must not be beyond the type's range in either direction.
    func float<Float: BinaryFloatingPoint & LosslessStringConvertible>(_ token: JSONToken) throws(JSONError) -> Float {
        let digits = try number(token)
        guard let float = Float(String(decoding: digits, as: UTF8.self)), float.isFinite, float != 0 || Self.isZero(digits) else {
            throw problem("a number that is no \(Float.self)", with: token)
        }
        return float
    }

    /// Nothing but zeros before the exponent.
    private static func isZero(_ digits: UnsafeRawBufferPointer) -> Bool {
        let isNonzero: (UInt8) -> Bool = { UInt8(ascii: "1")...UInt8(ascii: "9") ~= $0 }
        return !digits.prefix { $0 | 0x20 != UInt8(ascii: "e") }.contains(where: isNonzero)
    }

    /// The decimal number that a number is.
    func decimal(_ token: JSONToken) throws(JSONError) -> Decimal {
        if let integer: Int64 = plainInteger(token) { return Decimal(integer) }
        guard let decimal = Decimal(string: String(decoding: try number(token), as: UTF8.self)) else {
            throw problem("a number that is no Decimal", with: token)
        }
        return decimal
    }
}
