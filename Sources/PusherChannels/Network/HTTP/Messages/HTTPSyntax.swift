/// The characters that are allowed in the parts of an HTTP request (RFC 9110, 5).
///
/// They are checked because a line break in a path or a header would let somebody else add a header.
package enum HTTPSyntax {
    /// Returns whether a text can be a header's name or a method.
    package static func isToken(_ name: String) -> Bool {
        let separators = "()<>@,;:\\\"/[]?={}".utf8
        return !name.isEmpty && name.utf8.allSatisfy { isVisible($0) && !separators.contains($0) }
    }

    /// Returns whether a text can be a header's value.
    static func isFieldValue(_ value: String) -> Bool { isText(value.utf8) }

    /// Returns whether bytes have no control characters but tabs.
    static func isText(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    /// Returns whether a text can be a path with its query, percent-encoded throughout.
    static func isPath(_ path: String) -> Bool {
        // A fragment stays with the client (RFC 9110, 4.1).
        path.hasPrefix("/") && path.utf8.allSatisfy { isVisible($0) && $0 != UInt8(ascii: "#") }
    }

    /// Returns whether a text can be a host's name or address, without brackets. A leading dot isn't allowed, because OpenSSL
    /// would accept the certificate of any host below. Neither is a single colon, which begins a port.
    static func isHost(_ host: String) -> Bool {
        !host.isEmpty && host.utf8.first != UInt8(ascii: ".") && host.utf8.count <= 253
            && host.utf8.allSatisfy { isVisible($0) && !"/?#@[]\\\"<>^`{|}".utf8.contains($0) }
            && host.utf8.count(where: { $0 == UInt8(ascii: ":") }) != 1
    }

    /// Returns the message about a text that isn't a host, with advice.
    static func noHost(_ text: String) -> String {
        let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
        let advice = isASCII ? "a name or an address alone, without scheme, port and path" : "beyond ASCII: use the xn-- form"
        return "\(text.hostWithoutSecrets.debugDescription) isn't a valid host (\(advice))"
    }

    /// Throws if an endpoint can't be connected to: a port of more than 16 bits would be truncated to another one.
    static func checkEndpoint(host: String, port: Int) throws(TransportError) {
        guard isHost(host) else {
            throw TransportError(.unsupported, noHost(host))
        }
        guard (1...65535).contains(port) else {
            throw TransportError(.unsupported, "\(port) is not a TCP port")
        }
    }

    /// Returns the value of `Host` (RFC 9110, 7.2), without the scheme's usual port and an address's zone, which only means
    /// something on this machine.
    static func authority(host: String, port: Int, secure: Bool) -> String {
        let name = host.contains(":") ? "[\(host.prefix { $0 != "%" })]" : host
        return port == (secure ? 443 : 80) ? name : "\(name):\(port)"
    }

    private static func isVisible(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F }
}

/// The name with which this library identifies itself.
let userAgent = "swift-pusher-channels/\(libraryVersion)"

/// Returns the bytes of a request without a body (RFC 9112, 3).
func requestHead(_ methodAndTarget: String, _ fields: [(name: String, value: String)]) -> [UInt8] {
    var text = "\(methodAndTarget) HTTP/1.1\r\n"
    for (name, value) in fields { text += "\(name): \(value)\r\n" }
    return Array("\(text)\r\n".utf8)
}
