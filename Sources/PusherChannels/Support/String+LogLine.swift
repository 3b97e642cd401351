/// A server's texts in log lines.
extension String {
    /// Returns the text in a form that fits into a line: the beginning of a long one, with escapes for characters that would
    /// begin another line or reverse the direction of this one.
    ///
    /// A server may send megabytes, and a log is read by people and programs that trust its lines.
    package func inLogLine(upTo limit: Int = 200) -> String {
        // not a mutant: only the quick way
        if utf8.count <= limit, utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return self }
        return prefix(ofScalars: limit) { $0.isForLogLines ? nil : "\\u{\(String($0.value, radix: 16))}" }
    }

    /// Returns the text as the value of a field in a line: one plain word as it is; anything else cut, escaped, and in quotation
    /// marks.
    ///
    /// The values of a line can thus be told apart, and none can pass for another field, whatever a server says.
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
    /// The text in a form that fits into an error, as servers, endpoints, and applications may have contributed to it.
    package var asMessage: String { withoutSecretsOfAddresses.inLogLine(upTo: 1000) }

    /// A server's words in a form that fits into a message. They are cut last, because nothing tells the secrets of an address
    /// that has lost its end.
    var asQuotation: String { withoutSecretsOfAddresses.inLogLine() }
}

extension Name {
    /// The name in a form that fits into a log line.
    package var inLogLine: String { text.inLogLine() }
}

extension Unicode.Scalar {
    /// Indicates whether it shows as itself: it is neither a control character, nor does it end lines, change the direction of
    /// text, or hide in it.
    package var isForLogLines: Bool {
        if (0x20..<0x7F).contains(value) { return true }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
