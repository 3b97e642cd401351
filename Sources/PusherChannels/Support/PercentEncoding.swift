/// Percent-encoding of UTF-8 bytes (RFC 3986, 2).
extension String {
    /// Returns the text with every byte escaped that is neither unreserved nor among `allowed`.
    func percentEncoded(allowing allowed: StaticString = "") -> String {
        var result: [UInt8] = []
        result.reserveCapacity(utf8.count)
        for byte in utf8 {
            if byte.isUnreserved || allowed.withUTF8Buffer({ $0.contains(byte) }) {
                result.append(byte)
            } else {
                result.append(UInt8(ascii: "%"))
                result.append(hexadecimalDigit(byte >> 4))
                result.append(hexadecimalDigit(byte & 15))
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

/// Returns the text of an HTML form field; nil if an escape is broken or the decoded bytes aren't UTF-8.
package func formDecoded(_ bytes: some Sequence<UInt8>) -> String? {
    var result: [UInt8] = []
    var rest = bytes.makeIterator()
    while let byte = rest.next() {
        switch byte {
        case UInt8(ascii: "+"): result.append(UInt8(ascii: " "))
        case UInt8(ascii: "%"):
            guard let high = rest.next()?.hexadecimalValue, let low = rest.next()?.hexadecimalValue else { return nil }
            result.append(high << 4 | low)
        default: result.append(byte)
        }
    }
    return String(validating: result, as: UTF8.self)
}

private func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
}

extension UInt8 {
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
