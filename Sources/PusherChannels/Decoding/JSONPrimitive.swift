/// A type for which containers have a dedicated method.
protocol JSONPrimitive: Decodable {
    /// Returns the value that a token stands for; nil if it is of another kind.
    static func read(_ token: JSONToken, in document: JSONDocument) throws(JSONError) -> Self?
}

extension JSONPrimitive where Self: FixedWidthInteger {
    @inline(__always)
    static func read(_ token: JSONToken, in document: JSONDocument) throws(JSONError) -> Self? {
        guard token.kind == .number else { return nil }
        if let integer: Self = document.plainInteger(token) { return integer }
        return try document.integer(token)
    }
}

extension Int: JSONPrimitive {}
extension Int8: JSONPrimitive {}
extension Int16: JSONPrimitive {}
extension Int32: JSONPrimitive {}
extension Int64: JSONPrimitive {}
extension UInt: JSONPrimitive {}
extension UInt8: JSONPrimitive {}
extension UInt16: JSONPrimitive {}
extension UInt32: JSONPrimitive {}
extension UInt64: JSONPrimitive {}
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
extension Int128: JSONPrimitive {}
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
extension UInt128: JSONPrimitive {}

extension Double: JSONPrimitive {
    @inline(__always)
    static func read(_ token: JSONToken, in document: JSONDocument) throws(JSONError) -> Double? {
        guard token.kind == .number else { return nil }
        if let plain = document.plainDouble(token) { return plain }
        return try document.float(token)
    }
}

extension Float: JSONPrimitive {
    @inline(__always)
    static func read(_ token: JSONToken, in document: JSONDocument) throws(JSONError) -> Float? {
        guard token.kind == .number else { return nil }
        if let plain = document.plainFloat(token) { return plain }
        return try document.float(token)
    }
}

extension String: JSONPrimitive {
    @inline(__always)
    static func read(_ token: JSONToken, in document: JSONDocument) throws(JSONError) -> String? {
        guard token.kind == .string else { return nil }
        return try document.string(token)
    }
}

extension Bool: JSONPrimitive {
    @inline(__always)
    static func read(_ token: JSONToken, in document: JSONDocument) throws(JSONError) -> Bool? {
        switch token.kind {
        case .true: true
        case .false: false
        case .null, .number, .string, .array, .object: nil
        }
    }
}
