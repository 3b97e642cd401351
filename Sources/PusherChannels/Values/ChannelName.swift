/// A channel's name, and the kind of channel that its prefix determines.
package struct ChannelName: Hashable, Sendable {
    package enum Kind: Equatable, Sendable {
        case `public`
        case `private`
        case presence
        case encrypted
    }

    package let name: Name
    package let kind: Kind

    package init(_ text: String) {
        self.init(Name(text))
    }

    package init(_ name: Name) {
        let text = name.text
        self.name = name
        kind =
            if text.begins(with: "private-encrypted-") { .encrypted } else if text.begins(with: "private-") {
                .private
            } else if text.begins(with: "presence-") { .presence } else { .public }
    }

    package var text: String { name.text }

    /// Indicates whether subscribing requires a signature from the application's server.
    package var needsAuthorization: Bool { kind != .public }

    /// Indicates whether clients may send events to each other on it.
    package var allowsClientEvents: Bool { kind == .private || kind == .presence }

    /// Indicates whether the server keeps the channel's last event for later subscribers.
    package var isCache: Bool {
        let prefix =
            switch kind {
            case .public: ""
            case .private: "private-"
            case .presence: "presence-"
            case .encrypted: "private-encrypted-"
            }
        return text.utf8.dropFirst(prefix.utf8.count).starts(with: "cache-".utf8)
    }

    /// Returns the problem with the name, for a person; nil if there is none.
    package func problem(_ limits: ProtocolLimits) -> String? {
        if text.isEmpty { return "a channel name can't be empty" }
        if let problem = ProtocolLimits.problem(of: text, as: "a channel name", upTo: limits.channelNameLength) { return problem }
        guard limits.restrictsChannelCharacters,
            let wrong = text.unicodeScalars.first(where: { !Self.isAllowed($0) })
        else { return nil }
        return "a channel name can't contain \(String(wrong).debugDescription): letters, digits and _ - = @ , . ; are allowed"
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-", "=", "@", ",", ".", ";": true
        default: false
        }
    }
}

/// The type of a channel, determined by its name: it decides who may subscribe.
public enum PusherChannelType: Equatable, Sendable {
    /// `private-`: subscribing requires an authorization.
    case `private`
    /// `presence-`: private, and the members know of each other.
    case presence
    /// Anybody may subscribe.
    case normal

    /// Creates the type of the channel with this name. Encrypted channels are private ones.
    public init(name: String) {
        self =
            switch ChannelName(name).kind {
            case .private, .encrypted: .private
            case .presence: .presence
            case .public: .normal
            }
    }
}
