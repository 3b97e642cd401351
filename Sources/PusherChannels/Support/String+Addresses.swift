/// Addresses in texts for people to read, which often contain passwords and tokens.
extension String {
    /// The text, with the parts of its addresses before the host and after the path hidden.
    package var withoutSecretsOfAddresses: String {
        var text = self
        return text.withUTF8 { utf8 in
            var scanner = AddressScanner(utf8)
            return scanner.hides() ? String(decoding: scanner.result, as: UTF8.self) : nil
        } ?? self
    }

    /// The text with the same parts hidden. It is an address, perhaps without a scheme.
    package var addressWithoutSecrets: String {
        var text = self.withoutSecretsOfAddresses
        if let end = text.utf8.firstIndex(where: \.beginsQuery) {
            text.replaceSubrange(text.utf8.index(after: end)..., with: "…")
        }
        // Without a scheme, or with a misspelt one, nothing says where the host begins.
        let scheme = text.utf8.indices.first { text.utf8[$0...].starts(with: "://".utf8) } ?? text.endIndex
        if let at = text.utf8[..<scheme].lastIndex(of: UInt8(ascii: "@")) { text.replaceSubrange(..<at, with: "…") }
        return text
    }

    /// The text without anything that isn't part of a host name. It should be one, but somebody may have put an address there,
    /// with a password or a token.
    package var hostWithoutSecrets: String {
        let address = addressWithoutSecrets
        guard let at = address.utf8.lastIndex(of: UInt8(ascii: "@")) else { return address }
        return String(address[address.utf8.index(after: at)...])
    }
}

/// A scanner that copies a text without the secrets of the addresses in it.
private struct AddressScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var copied = 0
    private(set) var result: [UInt8] = []

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// Copies the text; returns whether there was anything to hide.
    mutating func hides() -> Bool {
        var position = 0
        while let colon = bytes[position...].firstIndex(of: UInt8(ascii: ":")) {
            position = colon + 1
            if let start = authorityStart(position) { position = hide(in: start) }
        }
        guard copied > 0 else { return false }
        result += bytes[copied...]
        return true
    }

    /// Returns the place behind two slashes; nil if there are none. PHP writes them in JSON as `\/\/`.
    private func authorityStart(_ colonEnd: Int) -> Int? {
        var position = colonEnd
        for _ in 1...2 {
            position = bytes[position...].firstIndex { $0 != UInt8(ascii: "\\") } ?? bytes.count
            guard position < bytes.count, bytes[position] == UInt8(ascii: "/") else { return nil }
            position += 1
        }
        return position
    }

    /// Hides the secrets of the address whose authority begins here; returns the end of the address.
    private mutating func hide(in start: Int) -> Int {
        let end = bytes[start...].firstIndex(where: \.endsAddress) ?? bytes.count
        let pathStart = bytes[start..<end].firstIndex(where: \.endsAuthority) ?? end
        if let at = userEnd(start..<pathStart, end) { replace(start..<at) }
        if let query = bytes[max(start, copied)..<end].firstIndex(where: \.beginsQuery), query + 1 < end {
            replace(query + 1..<end)
        }
        return end
    }

    /// Returns the last at sign of the authority. If there is none, a colon without a port after it begins a password that
    /// contains a slash, which somebody forgot to encode.
    private func userEnd(_ authority: Range<Int>, _ end: Int) -> Int? {
        let at = UInt8(ascii: "@")
        if let last = bytes[authority].lastIndex(of: at) { return last }
        guard let colon = bytes[authority].firstIndex(of: UInt8(ascii: ":")), bytes[authority.lowerBound] != UInt8(ascii: "[")
        else { return nil }
        // Behind the port, PHP has a backslash before the slash.
        let port = bytes[colon + 1..<authority.upperBound].prefix { $0 != UInt8(ascii: "\\") }
        let isPort = port.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isPort ? nil : bytes[authority.upperBound..<end].lastIndex(of: at)
    }

    private mutating func replace(_ hidden: Range<Int>) {
        result += bytes[copied..<hidden.lowerBound]
        result += "…".utf8
        copied = hidden.upperBound
    }
}

/// The meaning of a byte in an address. It isn't looked up in a text, as that took two thirds of the time for hiding secrets.
extension UInt8 {
    fileprivate var endsAddress: Bool {
        switch self {
        case ...0x20, UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "`"): true
        default: false
        }
    }

    fileprivate var endsAuthority: Bool { self == UInt8(ascii: "/") || beginsQuery }

    fileprivate var beginsQuery: Bool { self == UInt8(ascii: "?") || self == UInt8(ascii: "#") }
}
