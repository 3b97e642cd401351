import Foundation

/// JSON for Foundation's parsers, which end the program if an integer is wanted and a number has a fraction or an exponent and
/// hundreds of digits, such as a 1 with 300 zeros and `e-284`. Anybody may send that.
enum FoundationJSON {
    /// The digits that a number may have. Foundation's limits begin above 128, and no encoder writes as many.
    private static let digitLimit = 100

    /// Returns a text as data that the parsers can be given; throws for other texts.
    ///
    /// - Parameter isJSON5: Indicates that the parser takes JSON5, whose strings and comments aren't told apart here, so that the
    ///   numbers in them count, too.
    static func data(_ text: some Sequence<UInt8>, isJSON5: Bool = false) throws(DecodingError) -> Data {
        let data = Data(text)
        var (digits, isString, isEscaped) = (0, false, false)
        for byte in data {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = isString
            case UInt8(ascii: "\""): (isString, digits) = (!isString && !isJSON5, 0)
            case _ where isString: break
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digits += 1
                if digits > digitLimit { throw unusable("a number has more than \(digitLimit) digits") }
            case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "E"), UInt8(ascii: "e"): break
            // No JSON has it: the parser would take the text for UTF-16.
            case 0: throw unusable("it has NUL bytes")
            default: digits = 0
            }
        }
        return data
    }

    /// Returns what `JSONSerialization` makes of a text that was found to be JSON when it came; nil if it can't represent it.
    static func value(of text: String) -> Any? {
        func value(_ text: String) -> Any? {
            try? JSONSerialization.jsonObject(with: data(text.utf8), options: [.fragmentsAllowed])
        }
        // It refuses one half of a surrogate pair, which the SDK reads as U+FFFD.
        return value(text) ?? (try? JSONValue(parsing: text)).flatMap { value($0.text) }
    }

    private static func unusable(_ problem: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: "The given data can't be decoded: \(problem)."))
    }
}

extension JSONDecoder {
    /// Decodes a text that a server or another client chose.
    func decode<Value: Decodable>(_ type: Value.Type, fromReceived text: some Sequence<UInt8>) throws -> Value {
        try decode(type, from: FoundationJSON.data(text, isJSON5: allowsJSON5))
    }
}
