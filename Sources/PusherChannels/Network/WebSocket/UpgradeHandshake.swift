/// The upgrade from HTTP to WebSocket as a client does it (RFC 6455, 4.1): what it asks with, and what it takes for an answer.
struct UpgradeHandshake: Equatable, Sendable {
    /// Value of `Sec-WebSocket-Key`.
    let key: String
    /// Subprotocols to choose from, each once.
    let subprotocols: [String]

    /// Starts a handshake with 16 bytes that were drawn at random for it.
    ///
    /// `subprotocols` is the value of `Sec-WebSocket-Protocol` that is sent, if it is.
    init(nonce: (UInt64, UInt64), subprotocols: String? = nil) {
        let shifts = stride(from: UInt64(56), through: 0, by: -8)
        key = base64([nonce.0, nonce.1].flatMap { half in shifts.map { UInt8(truncatingIfNeeded: half >> $0) } })
        self.subprotocols = ResponseHead.list(subprotocols ?? "").reduce(into: []) { known, name in
            if !known.contains(where: name.isExactly) { known.append(name) }
        }
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
    func check(_ answer: ResponseHead) throws(UpgradeRefusal) -> String? {
        guard answer.status == 101 else { throw .status(answer.status) }
        let upgrade = answer.contents("Upgrade")
        guard !upgrade.isEmpty, upgrade.allSatisfy({ $0.isSameWord(as: "websocket") }) else { throw .noUpgrade }
        guard answer.values("Connection").contains(where: { $0.isSameWord(as: "upgrade") }) else { throw .noConnectionUpgrade }
        let accepted = answer.contents("Sec-WebSocket-Accept")
        guard accepted.count == 1, accepted[0].isExactly(accept) else { throw .wrongAccept }
        // A body would stand where the frames do; HTTP/1.1 has none after 101 (RFC 9110, 8.6 and RFC 9112, 6.1).
        for name in ["Content-Length", "Transfer-Encoding"] where answer.has(name) { throw .body(name) }
        if let extensions = answer.values("Sec-WebSocket-Extensions").first { throw .unwantedExtension(extensions) }
        let chosen = answer.contents("Sec-WebSocket-Protocol").filter { !$0.isEmpty }
        guard chosen.count <= 1, chosen.allSatisfy({ name in subprotocols.contains(where: name.isExactly) }) else {
            throw .unwantedSubprotocol(chosen.joined(separator: ", "))
        }
        return chosen.first
    }
}
