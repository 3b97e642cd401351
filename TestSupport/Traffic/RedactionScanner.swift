/// Finds secrets in running text: the values after `token=`, `"password": "`, `<secret>`, `Authorization:` and `Bearer`, those in
/// `<input name="password" value="…">`, the user part of an address, and JSON Web Tokens. In case of doubt it hides too much rather
/// than too little.
struct RedactionScanner {
    private let bytes: [UInt8]
    private let redaction: Redaction
    private var position = 0
    private var result: [UInt8] = []
    /// Indicates whether the text complains about a secret, because such messages may quote it.
    private var isComplaining = false
    /// The end of the tag that was looked at last, and whether one of its attributes has a secret's name as its value.
    private var tag = (end: 0, isSecret: false)

    init(_ text: String, _ redaction: Redaction) {
        bytes = Array(text.utf8)
        self.redaction = redaction
    }

    consuming func run() -> String {
        while position < bytes.count {
            guard Self.isWord(bytes[position]) else {
                if bytes[position] == UInt8(ascii: "<"), position >= tag.end { lookAtTag() }
                copy(to: position + 1)
                continue
            }
            readWord()
        }
        return String(decoding: result, as: UTF8.self)
    }

    private mutating func readWord() {
        // In `%5Btoken`, `5B` belongs to the percent-encoded sign before the name. In `%access_token`, `ac` doesn't encode a
        // sign.
        if position > 0, let sign = escaped(at: position - 1), sign < 0x80, !Self.isLetterOrDigit(sign) { copy(to: position + 2) }
        let start = position
        let end = skip(from: start, while: Self.isWord)
        let word = String(decoding: bytes[start..<end], as: UTF8.self)
        if Self.isWebToken(word) && redaction.isSecret("token") || isComplaining && Self.isDigest(word) {
            hide(upTo: end, as: Redaction.marker)
            return
        }
        copy(to: end)
        if hidesPassword() { return }
        if word.lowercased() == "bearer", redaction.isSecret("token"), end < bytes.count, bytes[end] == UInt8(ascii: " ") {
            copy(to: skip(from: end, while: Self.isSpace))
            guard !isChallenge(from: position) else { return }
            hide(upTo: valueEnd(from: position), as: Redaction.marker)
        } else if redaction.isSecret(word) || start < tag.end && tag.isSecret && Redaction.isValueOfPair(word),
            let value = valueStart(after: start..<end)
        {
            if isComplaint(from: value, after: end) {
                isComplaining = true
                return
            }
            copy(to: value)
            let end = Self.isHeader(word) ? headerEnd(from: value) : valueEnd(from: value)
            hide(upTo: end, as: redaction.hide(String(decoding: bytes[value..<end], as: UTF8.self), named: word))
        }
    }

    /// Looks for a secret's name among the values of a tag's attributes. A tag without an end extends to the next, or to the end of
    /// the text if a quote has no end either.
    private mutating func lookAtTag() {
        tag = (position + 1, false)
        var quote: UInt8?
        while tag.end < bytes.count, quote != nil || !"<>".utf8.contains(bytes[tag.end]) {
            let (before, byte) = (bytes[tag.end - 1], bytes[tag.end])
            if Self.isWord(byte), "\"'=[".utf8.contains(before) {
                let end = skip(from: tag.end, while: Self.isWord)
                if redaction.isSecret(String(decoding: bytes[tag.end..<end], as: UTF8.self)) { tag.isSecret = true }
                tag.end = end
                continue
            }
            if byte == quote {
                quote = nil
            } else if quote == nil, before == UInt8(ascii: "="), Self.isQuote(byte) {
                quote = byte
            }
            tag.end += 1
        }
    }

    /// Hides the password in `https://user:password@host`, and the user in `https://token@host`: a user without a password is
    /// usually a secret. Returns whether it found one.
    private mutating func hidesPassword() -> Bool {
        guard bytes[position...].starts(with: "://".utf8) else { return false }
        let user = position + 3
        let authorityEnd = skip(from: user) { !"/?# \t\r\n\"'".utf8.contains($0) }
        let authority = bytes[user..<authorityEnd]
        guard let userEnd = authority.firstIndex(where: { ":@".utf8.contains($0) }) else { return false }
        let isAlone = bytes[userEnd] == UInt8(ascii: "@")
        let secret = isAlone ? user : userEnd + 1
        let end = isAlone ? authority.lastIndex(of: bytes[userEnd]) : passwordEnd(bytes[secret..<authorityEnd])
        guard let at = end, redaction.isSecret("password") else { return false }
        copy(to: secret)
        hide(upTo: at, as: Redaction.marker)
        return true
    }

    /// Returns the position of the authority's last at sign. If there is none, the text after the colon is a port, or a password
    /// with a slash that should have been encoded. A thousand bytes of that are looked at: a text without a space may have an
    /// address in every few bytes.
    private func passwordEnd(_ password: ArraySlice<UInt8>) -> Int? {
        let at = UInt8(ascii: "@")
        if let end = password.lastIndex(of: at) { return end }
        if password.allSatisfy({
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "]")
        }) {
            return nil
        }
        return bytes[password.endIndex...].prefix(1_000).prefix { !" \t\r\n\"'".utf8.contains($0) }.lastIndex(of: at)
    }

    // MARK: Error messages

    /// Returns whether the text after a name isn't its value, as in `Invalid token: expected …`. With an equal sign or a quote,
    /// it always is the value.
    private func isComplaint(from value: Int, after name: Int) -> Bool {
        bytes[name..<value].elementsEqual(": ".utf8) && Complaint.begins(bytes[value..<wordEnd(from: value)])
    }

    /// Returns whether `Bearer` is followed by no token, as in `Bearer realm="…"`, with which a server asks for one, and in
    /// `Bearer token is missing`.
    private func isChallenge(from start: Int) -> Bool {
        let word = bytes[start..<skip(from: start, while: Self.isWord)]
        let isParameter = bytes[word.endIndex...].starts(with: "=\"".utf8)
        return isParameter || Complaint.begins(word) || ["token", "tokens"].contains(String(decoding: word, as: UTF8.self))
    }

    // MARK: Moving

    private mutating func copy(to end: Int) {
        result += bytes[position..<end]
        position = end
    }

    private mutating func hide(upTo end: Int, as text: String) {
        if end > position { result += text.utf8 }
        position = end
    }

    private func skip(from start: Int, while isWanted: (UInt8) -> Bool) -> Int {
        bytes[start...].firstIndex { !isWanted($0) } ?? bytes.count
    }

    /// Returns the start of a value if the name has one.
    private func valueStart(after name: Range<Int>) -> Int? {
        var index = name.upperBound
        while let (byte, next) = character(at: index), "\"'\\] ".utf8.contains(byte) { index = next }
        guard let (sign, next) = character(at: index), "=:".utf8.contains(sign) else {
            return isTag(name) ? tagEnd(from: name.upperBound) : nil
        }
        index = next
        // Programs print values with `=>` and `:=`, too.
        if index < bytes.count, "=>".utf8.contains(bytes[index]) { index += 1 }
        index = skip(from: index) { Self.isSpace($0) || $0 == UInt8(ascii: "\\") }
        if index < bytes.count, Self.isQuote(bytes[index]) { index += 1 }
        return index < bytes.count ? index : nil
    }

    /// Returns whether a name is that of an XML element, perhaps with a prefix.
    private func isTag(_ name: Range<Int>) -> Bool {
        var start = name.lowerBound
        if start > 0, bytes[start - 1] == UInt8(ascii: ":") {
            start -= 1
            while start > 0, Self.isWord(bytes[start - 1]) { start -= 1 }
        }
        return start > 0 && bytes[start - 1] == UInt8(ascii: "<")
    }

    /// Returns the start of an element's text, after its attributes; `nil` if it has no text.
    private func tagEnd(from start: Int) -> Int? {
        let end = skip(from: start) { !"<>".utf8.contains($0) }
        return end + 1 < bytes.count && bytes[end] == UInt8(ascii: ">") && bytes[end - 1] != UInt8(ascii: "/") ? end + 1 : nil
    }

    /// Returns a character, decoded if it is percent-encoded, and the position of the next one.
    private func character(at index: Int) -> (UInt8, next: Int)? {
        if let byte = escaped(at: index) { return (byte, index + 3) }
        return index < bytes.count ? (bytes[index], index + 1) : nil
    }

    private func escaped(at index: Int) -> UInt8? {
        guard index + 2 < bytes.count, bytes[index] == UInt8(ascii: "%") else { return nil }
        guard let high = bytes[index + 1].hexadecimalValue, let low = bytes[index + 2].hexadecimalValue else { return nil }
        return high << 4 | low
    }

    /// Returns the end of a value. A value in quotes extends to the same quote, one in a tag to the next tag, and any other to
    /// the next space or field.
    private func valueEnd(from start: Int) -> Int {
        let before = bytes[start - 1]
        if Self.isQuote(before) { return quoteEnd(from: start, before) }
        if before == UInt8(ascii: ">") { return skip(from: start) { $0 != UInt8(ascii: "<") } }
        if start < bytes.count, Self.opens(bytes[start]) { return wordEnd(from: bracketEnd(from: start)) }
        var word = start..<wordEnd(from: start)
        while Self.isScheme(bytes[word]) {
            let next = skip(from: word.upperBound, while: Self.isSpace)
            guard next > word.upperBound else { break }
            word = next..<wordEnd(from: next)
        }
        return word.upperBound
    }

    private func wordEnd(from start: Int) -> Int {
        skip(from: start) { !" \t\r\n\"&".utf8.contains($0) }
    }

    /// Returns the end of an array or an object. One that is cut off extends to the end of the text.
    private func bracketEnd(from start: Int) -> Int {
        var depth = 0
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if Self.isQuote(byte) {
                index = quoteEnd(from: index, byte)
                if index < bytes.count { index += bytes[index] == byte ? 1 : 2 }
            } else if Self.opens(byte) {
                depth += 1
            } else if "]}".utf8.contains(byte) {
                depth -= 1
                if depth == 0 { return index }
            }
        }
        return bytes.count
    }

    private func quoteEnd(from start: Int, _ quote: UInt8) -> Int {
        // In JSON inside a text, the quote that ends the value also has a backslash.
        let isEscaped = start > 1 && bytes[start - 2] == UInt8(ascii: "\\")
        var index = start
        while index < bytes.count, bytes[index] != quote {
            if bytes[index] == UInt8(ascii: "\\") {
                if isEscaped { return index }
                index += 1
            }
            index += 1
        }
        return min(index, bytes.count)
    }

    /// Returns the end of a header field's value, which may have spaces and quotes in it.
    private func headerEnd(from start: Int) -> Int {
        let before = bytes[start - 1]
        return Self.isQuote(before) ? quoteEnd(from: start, before) : skip(from: start) { !"\r\n".utf8.contains($0) }
    }

    private static func isQuote(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
    }

    private static func opens(_ byte: UInt8) -> Bool { "[{".utf8.contains(byte) }

    private static func isWord(_ byte: UInt8) -> Bool { isLetterOrDigit(byte) || "_-.".utf8.contains(byte) }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") }

    /// Returns whether a word only names the kind of secret that follows it.
    private static func isScheme(_ word: ArraySlice<UInt8>) -> Bool {
        ["bearer", "basic"].contains(String(decoding: word, as: UTF8.self).lowercased())
    }

    private static func isHeader(_ name: String) -> Bool {
        ["authorization", "proxy-authorization", "cookie", "set-cookie"].contains(name.lowercased())
    }

    private static func isDigest(_ word: String) -> Bool {
        word.utf8.count >= 32 && word.allSatisfy(\.isHexDigit)
    }

    private static func isWebToken(_ word: String) -> Bool {
        word.hasPrefix("eyJ") && word.utf8.count > 30 && word.utf8.count { $0 == UInt8(ascii: ".") } == 2
    }
}
