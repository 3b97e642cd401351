/// A channel's name, and the kind of channel that its prefix makes it.
package struct ChannelName: Hashable, Sendable {
    package enum Kind: Equatable, Sendable {
        case `public`
        case `private`
        case presence
        case encrypted
    }

    package let text: String
    package let kind: Kind

    package init(_ text: String) {
        self.text = text
        kind =
            if text.hasPrefix("private-encrypted-") { .encrypted } else if text.hasPrefix("private-") {
                .private
            } else if text.hasPrefix("presence-") { .presence } else { .public }
    }

    /// Whether subscribing takes a signature from the application's server.
    package var needsAuthorisation: Bool { kind != .public }

    /// Whether clients may send events to each other on it.
    package var allowsClientEvents: Bool { kind == .private || kind == .presence }

    /// The longest name hosted servers take, prefix included.
    package static let maximumLength = 164

    /// What is wrong with the name, for a person; nil when nothing is.
    package var problem: String? {
        if text.isEmpty { return "a channel name can't be empty" }
        if text.utf8.count > Self.maximumLength {
            return "a channel name can't be longer than \(Self.maximumLength) characters, this one has \(text.utf8.count)"
        }
        guard let wrong = text.unicodeScalars.first(where: { !Self.isAllowed($0) }) else { return nil }
        return "a channel name can't contain \(String(wrong).debugDescription): letters, digits and _ - = @ , . ; are allowed"
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-", "=", "@", ",", ".", ";": true
        default: false
        }
    }
}
