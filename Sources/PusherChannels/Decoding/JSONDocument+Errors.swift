extension JSONDocument {
    /// A value is of another kind than what it was to be decoded as. A missing one is another error, except for `Bool`, as it is
    /// with Foundation.
    func mismatch(of value: Int, with type: any Any.Type, _ path: JSONCodingPath?) -> DecodingError {
        let isNull = isNull(value)
        let context = DecodingError.Context(
            codingPath: path.keys,
            debugDescription: isNull && type != Bool.self
                ? "Cannot get value of type \(type) -- found null value instead"
                : "Expected to decode \(type) but found \(Self.name(of: tokens[value].kind)) instead."
        )
        return isNull && type != Bool.self ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func corruption(_ description: String, _ path: JSONCodingPath?) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path.keys, debugDescription: description))
    }

    private static func name(of kind: JSONToken.Kind) -> String {
        switch kind {
        case .null: "null"
        case .false, .true: "bool"
        case .number: "number"
        case .string: "a string"
        case .array: "an array"
        case .object: "a dictionary"
        }
    }
}
