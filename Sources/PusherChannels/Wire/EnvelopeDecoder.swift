/// Reads a frame's text: one pass, no intermediate tree, strings made only for what is kept.
struct EnvelopeDecoder {
    func decode(_ bytes: UnsafeRawBufferPointer) throws(MalformedFrame) -> ServerMessage {
        let (envelope, isReserved) = try readEnvelope(bytes)
        return isReserved ? try ServerMessage(reserved: envelope) : .event(envelope)
    }

    private func readEnvelope(
        _ bytes: UnsafeRawBufferPointer
    ) throws(MalformedFrame) -> (envelope: Envelope, isReserved: Bool) {
        var scanner = JSONScanner(bytes)
        scanner.skipWhitespace()
        var members = Members()
        if scanner.current == UInt8(ascii: "{") {
            do throws(JSONError) {
                try members.read(from: &scanner)
                try scanner.expectEnd()
            } catch {
                throw .notJSON(error)
            }
        } else {
            do throws(JSONError) {
                try scanner.skipValue()
                try scanner.expectEnd()
            } catch {
                throw .notJSON(error)
            }
            throw .notAnObject
        }
        guard let event = members.event else { throw .missingEvent }
        let envelope = Envelope(
            event: event, channel: members.channel, data: members.data, userID: members.userID, extra: members.extra)
        return (envelope, members.isReserved)
    }
}

/// What the reader has seen of an event object so far.
private struct Members {
    var event: String?
    /// Whether the event's name begins as the protocol's own do.
    var isReserved = false
    var channel: String?
    var data: String?
    var userID: String?
    var extra: [String: String]?

    mutating func read(from scanner: inout JSONScanner) throws(JSONError) {
        scanner.advance()
        scanner.skipWhitespace()
        if scanner.current == UInt8(ascii: "}") {
            scanner.advance()
            return
        }
        while true {
            let key = try scanner.scanString()
            try scanner.skipColon()
            try readValue(of: key, from: &scanner)
            scanner.skipWhitespace()
            if scanner.current == UInt8(ascii: "}") {
                scanner.advance()
                return
            }
            try scanner.expect(UInt8(ascii: ","), "expected a comma")
            scanner.skipWhitespace()
        }
    }

    private mutating func readValue(
        of key: JSONScanner.StringToken, from scanner: inout JSONScanner
    ) throws(JSONError) {
        if scanner.token(key, is: "event") {
            let token = try scanner.scanStringValue()
            event = token.map { scanner.string($0) }
            isReserved = token.map { scanner.token($0, begins: "pusher") } ?? false
        } else if scanner.token(key, is: "channel") {
            channel = try scanner.scanStringValue().map { scanner.string($0) }
        } else if scanner.token(key, is: "data") {
            data = try scanner.readText(of: .payload)
        } else if scanner.token(key, is: "user_id") {
            userID = try scanner.readText(of: .payload)
        } else {
            let text = try scanner.readText(of: .raw)
            extra = extra ?? [:]
            extra?[scanner.string(key)] = text
        }
    }
}

extension JSONScanner {
    fileprivate enum Form {
        /// A string's content, the raw text of anything else, nil for null.
        case payload
        /// The raw text, whatever it is.
        case raw
    }

    /// Whether a token is this text; one written with escapes is compared by what it stands for.
    fileprivate func token(_ token: StringToken, is text: StaticString) -> Bool {
        if token.hasEscapes { return string(token) == text.description }
        return token.end - token.start == text.utf8CodeUnitCount && self.token(token, begins: text)
    }

    fileprivate func token(_ token: StringToken, begins text: StaticString) -> Bool {
        if token.hasEscapes { return string(token).hasPrefix(text.description) }
        guard token.end - token.start >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where bytes[token.start + index] != text.utf8Start[index] {
            return false
        }
        return true
    }

    /// Reads a value where a string is expected; nil for any other kind.
    fileprivate mutating func scanStringValue() throws(JSONError) -> StringToken? {
        if current == UInt8(ascii: "\"") { return try scanString() }
        try skipValue()
        return nil
    }

    fileprivate mutating func readText(of form: Form) throws(JSONError) -> String? {
        if form == .payload, current == UInt8(ascii: "\"") { return string(try scanString()) }
        let start = position
        let isNull = current == UInt8(ascii: "n")
        try skipValue()
        return form == .payload && isNull ? nil : text(start..<position)
    }
}
