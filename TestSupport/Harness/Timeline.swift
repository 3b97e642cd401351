import PusherChannels

/// The events of a test, with the virtual time: the story behind a failure. All members may be called from any thread.
public final class Timeline: Sendable, CustomStringConvertible {
    /// Something that happened.
    public struct Entry: Equatable, Sendable, CustomStringConvertible {
        /// When, by the test's clock.
        public let time: Instant
        /// The sort of the event, such as `request`, `sent` or `opened`.
        public let kind: String
        /// The description of the event.
        public let text: String

        var redacted: Entry { Entry(time: time, kind: kind, text: Redaction.standard.redact(text)) }

        /// `2.5 seconds  sent  {"event":…}`
        public var description: String { "\(time)  \(kind)  \(text)" }
    }

    /// The number of entries that are kept of a long story: its end.
    private static let limit = 10_000

    private let story = Locked<(forgotten: Int, entries: [Entry])>((0, []))
    private let now: @Sendable () -> Instant

    init(now: @escaping @Sendable () -> Instant) {
        self.now = now
    }

    /// The events so far, in order; of a very long story, the last ten thousand entries or more.
    /// Secrets are left out.
    public var entries: [Entry] { story.withLock { $0.entries }.map(\.redacted) }

    /// Writes something down.
    public func note(_ kind: String, _ text: String) {
        let entry = Entry(time: now(), kind: kind, text: text)
        story.withLock { story in
            story.entries.append(entry)
            guard story.entries.count > 2 * Self.limit else { return }
            story.forgotten += Self.limit
            story.entries.removeFirst(Self.limit)
        }
    }

    /// The number of entries so far, with those that are no longer kept.
    var count: Int { story.withLock { $0.forgotten + $0.entries.count } }

    /// Returns whether something of these sorts was written down after so many entries.
    func has(_ kinds: Set<String>, after count: Int) -> Bool {
        story.withLock { story in
            story.entries.dropFirst(max(0, count - story.forgotten)).contains { kinds.contains($0.kind) }
        }
    }

    /// One line an entry; of a long story, the end.
    public var description: String {
        let (forgotten, entries) = story.withLock { $0 }
        let shown = entries.suffix(40).map { "  \($0.redacted)" }
        let rest = forgotten + entries.count - shown.count
        return ((rest > 0 ? ["  … \(rest) earlier"] : []) + shown).joined(separator: "\n")
    }
}
