/// The upgrade from HTTP to WebSocket as a client does it (RFC 6455, 4.1): what it asks with, and what it takes for an answer.
struct UpgradeHandshake: Equatable, Sendable {
    /// Value of `Sec-WebSocket-Key`.
    let key: String
    /// Subprotocols to choose from.
    let subprotocols: [String]

    /// Starts a handshake with 16 bytes that were drawn at random for it.
    ///
    /// `subprotocols` is the value of `Sec-WebSocket-Protocol` that is sent, if it is.
    init(nonce: (UInt64, UInt64), subprotocols: String? = nil) {
        let shifts = stride(from: UInt64(56), through: 0, by: -8)
        key = base64([nonce.0, nonce.1].flatMap { half in shifts.map { UInt8(truncatingIfNeeded: half >> $0) } })
        self.subprotocols = subprotocols.map { UpgradeAnswer.list($0) } ?? []
    }

    /// The request's fields, beside `Host` and what the user adds. No extension is asked for, so none may be used.
    var fields: [(name: String, value: String)] {
        var fields = [
            ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", key),
        ]
        if !subprotocols.isEmpty { fields.append(("Sec-WebSocket-Protocol", subprotocols.joined(separator: ", "))) }
        return fields
    }

    /// The `Sec-WebSocket-Accept` of a server that read the key (4.2.2).
    var accept: String {
        base64(SHA1.digest("\(key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
    }

    /// Checks the answer (4.1); returns the subprotocol that the server chose.
    func check(_ answer: UpgradeAnswer) throws(UpgradeRefusal) -> String? {
        guard answer.status == 101 else { throw .status(answer.status) }
        guard answer.list("Upgrade", contains: "websocket") else { throw .noUpgrade }
        guard answer.list("Connection", contains: "upgrade") else { throw .noConnectionUpgrade }
        guard answer.values("Sec-WebSocket-Accept") == [accept] else { throw .wrongAccept }
        // A body would stand where the frames do; HTTP/1.1 has none after 101 (RFC 9110, 8.6 and RFC 9112, 6.1).
        for name in ["Content-Length", "Transfer-Encoding"] where answer.has(name) { throw .body(name) }
        if let extensions = answer.values("Sec-WebSocket-Extensions").first { throw .unwantedExtension(extensions) }
        let chosen = answer.values("Sec-WebSocket-Protocol")
        guard chosen.count <= 1, chosen.allSatisfy(subprotocols.contains) else {
            throw .unwantedSubprotocol(chosen.joined(separator: ", "))
        }
        return chosen.first
    }
}

/// An HTTP answer's head: its status and its fields as they came.
struct UpgradeAnswer: Sendable {
    let status: Int
    let fields: [(name: String, value: String)]

    init(status: Int, fields: [(name: String, value: String)]) {
        self.status = status
        self.fields = fields
    }

    /// Whether there is such a field, even an empty one.
    func has(_ name: String) -> Bool {
        fields.contains { $0.name.lowercased() == name.lowercased() }
    }

    /// What stands in all fields of a name (RFC 9110, 5.3 and 5.6.1): lists of values with commas between them.
    func values(_ name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.flatMap { Self.list($0.value) }
    }

    /// Whether one of a field's values is this word; `word` is in lower case.
    func list(_ name: String, contains word: String) -> Bool {
        values(name).contains { $0.lowercased() == word }
    }

    /// A list's elements without the white space around them; empty ones don't count.
    static func list(_ value: String) -> [String] {
        value.utf8.split(separator: UInt8(ascii: ",")).compactMap { element in
            let start = element.drop(while: isSpace)
            let count = start.reversed().drop(while: isSpace).count
            return count == 0 ? nil : String(decoding: start.prefix(count), as: UTF8.self)
        }
    }

    /// Line ends among them: not every HTTP client takes all of them away.
    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A
    }
}
