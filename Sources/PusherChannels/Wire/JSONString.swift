extension JSONScanner {
    /// Returns the string that a token stands for, with its escapes resolved.
    func string(_ token: StringToken) -> String {
        let raw = UnsafeRawBufferPointer(rebasing: bytes[token.start..<token.end])
        guard token.hasEscapes else { return String(decoding: raw, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: raw.count) { resolveEscapes(of: raw, into: $0) }
    }

    /// Returns the text of a token as a name.
    func name(_ token: StringToken) -> Name {
        if token.hasEscapes { return Name(string(token)) }
        let raw = UnsafeRawBufferPointer(rebasing: bytes[token.start..<token.end])
        return Name(utf8: raw, digest: Name.digest(of: raw))
    }

    /// Returns the text of a value as it was sent.
    func text(_ range: Range<Int>) -> String {
        String(decoding: UnsafeRawBufferPointer(rebasing: bytes[range]), as: UTF8.self)
    }
}

/// Copies a scanned string's bytes to a buffer with room for all of them, resolving escapes. Returns the number of bytes written,
/// which is never more than the source has.
func resolveEscapes(of source: UnsafeRawBufferPointer, into target: UnsafeMutableBufferPointer<UInt8>) -> Int {
    let words = UnsafeMutableRawBufferPointer(target)
    var read = 0
    var written = 0
    while read < source.count {
        if read + 8 <= source.count {
            // Bytes that were copied from after a backslash are overwritten.
            let word = source.loadUnaligned(fromByteOffset: read, as: UInt64.self)
            words.storeBytes(of: word, toByteOffset: written, as: UInt64.self)
            let plain = bytesBeforeBackslash(in: UInt64(littleEndian: word))
            read += plain
            written += plain
            if plain == 8 { continue }
        } else if source[read] != UInt8(ascii: "\\") {
            target[written] = source[read]
            read += 1
            written += 1
            continue
        }
        let escape = source[read + 1]
        read += 2
        if escape == UInt8(ascii: "u") {
            let scalar = unicodeScalar(source, at: &read)
            for unit in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                target[written] = unit
                written += 1
            }
        } else {
            target[written] = resolve(escape)
            written += 1
        }
    }
    return written
}

/// Returns the number of bytes, the lowest first, that precede the first backslash in a word of eight.
private func bytesBeforeBackslash(in word: UInt64) -> Int {
    let backslash = word ^ 0x5C5C_5C5C_5C5C_5C5C
    return ((backslash &- 0x0101_0101_0101_0101) & ~backslash & 0x8080_8080_8080_8080).trailingZeroBitCount / 8
}

private func resolve(_ escape: UInt8) -> UInt8 {
    switch escape {
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: escape
    }
}

/// Reads the four digits after `\u`, and a second escape if the first is half of a pair. A lone half is U+FFFD.
private func unicodeScalar(_ source: UnsafeRawBufferPointer, at read: inout Int) -> Unicode.Scalar {
    let high = codeUnit(source, at: read)
    read += 4
    if let scalar = Unicode.Scalar(high) { return scalar }
    if UTF16.isLeadSurrogate(high), read + 6 <= source.count, source[read] == UInt8(ascii: "\\"),
        source[read + 1] == UInt8(ascii: "u")
    {
        let low = codeUnit(source, at: read + 2)
        if UTF16.isTrailSurrogate(low) {
            read += 6
            let value = 0x10000 + (UInt32(high) - 0xD800) << 10 + (UInt32(low) - 0xDC00)
            return Unicode.Scalar(value) ?? "\u{FFFD}"
        }
    }
    return "\u{FFFD}"
}

private func codeUnit(_ source: UnsafeRawBufferPointer, at offset: Int) -> UInt16 {
    var unit: UInt16 = 0
    for index in 0..<4 {
        unit = unit << 4 | UInt16(source[offset + index].hexadecimalValue ?? 0)
    }
    return unit
}

extension String {
    /// The string as a JSON string, including quotes. Only the escapes that RFC 8259 requires are used.
    package var quotedJSON: String {
        var result: [UInt8] = []
        result.reserveCapacity(utf8.count + 2)
        result.appendQuotedJSON(self)
        return String(decoding: result, as: UTF8.self)
    }
}

extension [UInt8] {
    /// Appends a text as a JSON string, including quotes.
    mutating func appendQuotedJSON(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            append(UInt8(ascii: "\""))
            // Text without escapes is copied at once; usually that is all of it. Without optimization, `enumerated()` would take
            // most of the time that a test spends on a long text.
            var copied = 0
            var index = 0
            while index < utf8.count {
                let byte = utf8[index]
                if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                    append(contentsOf: utf8[copied..<index])
                    appendEscape(of: byte)
                    copied = index + 1
                }
                index += 1
            }
            append(contentsOf: utf8[copied...])
            append(UInt8(ascii: "\""))
        }
    }

    private mutating func appendEscape(of byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\n"): append(UInt8(ascii: "n"))
        case UInt8(ascii: "\r"): append(UInt8(ascii: "r"))
        case UInt8(ascii: "\t"): append(UInt8(ascii: "t"))
        case 0..<0x20:
            append(contentsOf: "u00".utf8)
            append(UInt8(ascii: "0") + byte >> 4)
            append((byte & 0xF < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10) + byte & 0xF)
        default: append(byte)
        }
    }
}
