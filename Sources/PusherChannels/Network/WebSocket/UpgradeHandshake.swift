import Foundation

/// The upgrade from HTTP to WebSocket as a client does it (RFC 6455, 4.1): what it asks with, and which response it takes.
struct UpgradeHandshake: Equatable, Sendable {
    /// Value of `Sec-WebSocket-Key`.
    let key: String
    /// Subprotocols to choose from, each once.
    let subprotocols: [String]

    /// Starts a handshake with 16 bytes that were drawn at random for it.
    ///
    /// `subprotocols` is the value of `Sec-WebSocket-Protocol` that is sent, if it is.
    init(nonce: (UInt64, UInt64), subprotocols: String? = nil) {
        key = withUnsafeBytes(of: (nonce.0.bigEndian, nonce.1.bigEndian)) { Data($0) }.base64EncodedString()
        self.subprotocols = ResponseHead.list(subprotocols ?? "").reduce(into: []) { known, name in
            if !known.contains(where: name.hasBytes(of:)) { known.append(name) }
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
        Data(sha1("\(key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)).base64EncodedString()
    }

    /// Checks the response (4.1); returns the subprotocol that the server chose.
    func check(_ response: ResponseHead) throws(UpgradeRefusal) -> String? {
        guard response.status == 101 else { throw .status(response.status) }
        let upgrade = response.contents("Upgrade")
        guard !upgrade.isEmpty, upgrade.allSatisfy({ $0.isSameWord(as: "websocket") }) else { throw .noUpgrade }
        guard response.values("Connection").contains(where: { $0.isSameWord(as: "upgrade") }) else { throw .noConnectionUpgrade }
        let accepted = response.contents("Sec-WebSocket-Accept")
        guard accepted.count == 1, accepted[0].hasBytes(of: accept) else { throw .wrongAccept }
        // A body would stand where the frames do; HTTP/1.1 has none after 101 (RFC 9110, 8.6 and RFC 9112, 6.1).
        for name in ["Content-Length", "Transfer-Encoding"] where response.has(name) { throw .body(name) }
        if let extensions = response.values("Sec-WebSocket-Extensions").first { throw .unwantedExtension(extensions) }
        let chosen = response.contents("Sec-WebSocket-Protocol").filter { !$0.isEmpty }
        guard chosen.count <= 1, chosen.allSatisfy({ name in subprotocols.contains(where: name.hasBytes(of:)) }) else {
            throw .unwantedSubprotocol(chosen.joined(separator: ", "))
        }
        return chosen.first
    }
}
