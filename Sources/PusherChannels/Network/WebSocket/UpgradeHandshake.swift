import Foundation

/// A client's upgrade from HTTP to WebSocket (RFC 6455, 4.1): the fields that it sends, and the responses that it accepts.
package struct UpgradeHandshake: Equatable, Sendable {
    /// The value of `Sec-WebSocket-Key`.
    let key: String
    /// The subprotocols to choose from, each once.
    let subprotocols: [String]

    /// Creates a handshake with 16 random bytes that were drawn for it.
    ///
    /// `subprotocols` is the value of `Sec-WebSocket-Protocol` to send, if any.
    init(nonce: (UInt64, UInt64), subprotocols: String? = nil) {
        key = withUnsafeBytes(of: (nonce.0.bigEndian, nonce.1.bigEndian)) { Data($0) }.base64EncodedString()
        self.subprotocols = ResponseHead.list(subprotocols ?? "").reduce(into: []) { known, name in
            if !known.contains(where: name.hasBytes(of:)) { known.append(name) }
        }
    }

    /// The request's fields, besides `Host` and those that the user adds. It offers no extension, so none may be used.
    var fields: [(name: String, value: String)] {
        var fields = [
            ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", key),
        ]
        if !subprotocols.isEmpty { fields.append(("Sec-WebSocket-Protocol", subprotocols.joined(separator: ", "))) }
        return fields
    }

    /// The `Sec-WebSocket-Accept` of a server that read the key (4.2.2).
    var accept: String { Self.accept(for: key) }

    /// Returns the `Sec-WebSocket-Accept` for a key.
    package static func accept(for key: String) -> String {
        Data(sha1("\(key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)).base64EncodedString()
    }

    /// Checks the response (4.1), and returns the subprotocol that the server chose.
    func check(_ response: ResponseHead) throws(UpgradeRefusal) -> String? {
        guard response.status == 101 else { throw .status(response.status) }
        let upgrade = response.contents("Upgrade")
        guard !upgrade.isEmpty, upgrade.allSatisfy({ $0.isSameWord(as: "websocket") }) else { throw .noUpgrade }
        guard response.values("Connection").contains(where: { $0.isSameWord(as: "upgrade") }) else { throw .noConnectionUpgrade }
        let accepted = response.contents("Sec-WebSocket-Accept")
        guard accepted.count == 1, accepted[0].hasBytes(of: accept) else { throw .wrongAccept }
        // A body would take the place of the frames; HTTP/1.1 has none after 101 (RFC 9110, 8.6 and RFC 9112, 6.1). Some proxies say
        // so by a length of zero.
        guard response.contents("Content-Length").allSatisfy({ $0.hasBytes(of: "0") }) else { throw .body("Content-Length") }
        if response.has("Transfer-Encoding") { throw .body("Transfer-Encoding") }
        if let extensions = response.values("Sec-WebSocket-Extensions").first { throw .unwantedExtension(extensions) }
        let chosen = response.contents("Sec-WebSocket-Protocol").filter { !$0.isEmpty }
        guard chosen.count <= 1, chosen.allSatisfy({ name in subprotocols.contains(where: name.hasBytes(of:)) }) else {
            throw .unwantedSubprotocol(chosen.joined(separator: ", "))
        }
        return chosen.first
    }
}
