extension JSONDocument {
    /// Returns the string of a token of that kind.
    func string(_ token: JSONToken) throws(JSONError) -> String {
        guard !token.isBroken else { throw problem("a string with bad escapes or control characters", with: token) }
        return unescaped(token)
    }

    private func unescaped(_ token: JSONToken) -> String {
        guard token.hasEscapes else { return String(decoding: text(of: token), as: UTF8.self) }
        return JSONScanner(bytes).string(.init(start: token.text.lowerBound, end: token.text.upperBound, hasEscapes: true))
    }

    /// Calls `body` with the bytes of a string, with its escapes resolved.
    func withBytes<Result>(of token: JSONToken, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard token.hasEscapes else { return body(text(of: token)) }
        var string = unescaped(token)
        return string.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }

    /// Returns whether a string has these bytes.
    func isString(_ token: JSONToken, _ other: UnsafeRawBufferPointer) -> Bool {
        withBytes(of: token) { areEqual($0, other) }
    }
}

/// Returns whether both hold the same bytes. Compares eight at a time, as most names are short.
@inline(__always)
func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard left.count == right.count else { return false }
    var offset = 0
    while offset + 8 <= left.count {
        let word = left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        guard word == right.loadUnaligned(fromByteOffset: offset, as: UInt64.self) else { return false }
        offset += 8
    }
    while offset < left.count {
        guard left[offset] == right[offset] else { return false }
        offset += 1
    }
    return true
}
