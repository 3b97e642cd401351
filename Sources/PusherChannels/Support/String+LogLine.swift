/// Texts of a server in lines of a log.
extension String {
    /// The text as a line may hold it: the beginning of a long one, and escapes for what would begin another line or turn this one round.
    ///
    /// A server may send megabytes of it, and a log is read by people and programs that take a line for what it says.
    package func inLogLine(upTo limit: Int = 200) -> String {
        if utf8.count <= limit, utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return self }
        return prefix(ofScalars: limit) { $0.isForLogLines ? nil : "\\u{\(String($0.value, radix: 16))}" }
    }

    /// The text as the value of a field in a line: one plain word as it is, all else cut and in quotation marks, with escapes.
    ///
    /// So the values of a line can be told apart, and none can pass for another field, whatever a server says.
    package func asLogValue(upTo limit: Int = 200) -> String {
        if !isEmpty, utf8.count <= limit, utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !$0.isSpecialInQuotation }) { return self }
        let text = prefix(ofScalars: limit) { scalar in
            if scalar == "\"" || scalar == "\\" { return "\\\(scalar)" }
            return scalar.isForLogLines ? nil : "\\u{\(String(scalar.value, radix: 16))}"
        }
        return "\"\(text)\""
    }

    private func prefix(ofScalars limit: Int, escape: (Unicode.Scalar) -> String?) -> String {
        var result = ""
        var scalars = unicodeScalars.makeIterator()
        for _ in 0..<limit {
            guard let scalar = scalars.next() else { return result }
            result += escape(scalar) ?? String(scalar)
        }
        return scalars.next() == nil ? result : result + "…"
    }
}

extension UInt8 {
    fileprivate var isSpecialInQuotation: Bool { self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\") }
}

extension String {
    /// The text as an error may say it: what servers, endpoints and applications had their say in.
    package var asMessage: String { withoutSecretsOfAddresses.inLogLine(upTo: 1000) }
}

extension Name {
    /// The name as a line of a log may hold it.
    package var inLogLine: String { text.inLogLine() }
}

extension Unicode.Scalar {
    /// Neither a control character nor one that ends lines or changes the direction of what follows.
    package var isForLogLines: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028..<0x202F, 0x2066..<0x206A: false
        default: true
        }
    }
}
