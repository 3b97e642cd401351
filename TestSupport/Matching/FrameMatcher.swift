import PusherChannels

/// A matcher for a client's messages. A string literal is the name of an event, `pusher:subscribe`, optionally followed by a
/// channel, `pusher:subscribe news`.
public typealias FrameMatcher = Matcher<SentFrame>

extension SentFrame: Matchable {
    /// Returns the matcher for a text such as `pusher:ping` or `pusher:subscribe news`.
    public static func matcher(_ text: String) -> FrameMatcher {
        let words = text.split(separator: " ", maxSplits: 1).map(String.init)
        let event = FrameMatcher.event(words.first ?? "")
        let whole = words.count > 1 ? event && .channel(words[1]) : event
        return FrameMatcher(text) { whole.outcome(of: $0) }
    }
}

extension Matcher where Subject == SentFrame {
    /// Matches messages of an event.
    public static func event(_ name: String) -> FrameMatcher {
        equal("event", name) { $0.event }
    }

    /// Matches messages about a channel.
    public static func channel(_ name: String) -> FrameMatcher {
        equal("channel", name) { $0.channel }
    }

    /// Matches JSON messages that have at least these members, at any depth and in any order of keys.
    ///
    /// - Parameter text: A JSON document.
    public static func json(_ text: String) -> FrameMatcher {
        .json(text, of: "message") { $0.json }
    }

    private static func equal(
        _ part: String, _ expected: String, _ actual: @escaping @Sendable (SentFrame) -> String?
    ) -> FrameMatcher {
        FrameMatcher("\(part) \(expected)") { frame in
            let actual = actual(frame)
            return actual?.hasBytes(of: expected) == true ? nil : "\(part) is \(actual ?? "missing"), not \(expected)"
        }
    }
}
