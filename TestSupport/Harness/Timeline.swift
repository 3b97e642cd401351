import PusherChannels

/// The events of a test with their virtual time, which explain a failure. All members may be called from any thread.
public final class Timeline: Sendable, CustomStringConvertible {
    /// An event of a test.
    public struct Entry: Equatable, Sendable, CustomStringConvertible {
        /// The time of the event, by the test's clock.
        public let time: Instant
        /// The kind of the event, such as `request`, `sent` or `opened`.
        public let kind: String
        /// The description of the event.
        public let text: String

        var redacted: Entry { Entry(time: time, kind: kind, text: Redaction.standard.redact(text)) }

        /// `2.5 seconds  sent  {"event":…}`
        public var description: String { "\(time)  \(kind)  \(text)" }
    }

    /// The number of entries to keep of a long timeline: the latest ones.
    private static let limit = 10_000

    private let life: TestLife
    private let story = Locked<(forgotten: Int, entries: [Entry])>((0, []))
    private let now: @Sendable () -> Instant

    init(of life: TestLife, now: @escaping @Sendable () -> Instant) {
        self.life = life
        self.now = now
    }

    /// The events so far, in order; of a very long timeline, the last ten thousand entries or more. Secrets are left out.
    public var entries: [Entry] { story.withLock { $0.entries }.map(\.redacted) }

    /// Records an event.
    public func note(_ kind: String, _ text: String) {
        let entry = Entry(time: now(), kind: kind, text: text)
        // What ends with a test, such as a connection, may end a little later.
        life.use { kind == "request" || kind == "opened" ? "\(kind) \(entry.redacted.text)" : nil }
        story.withLock { story in
            story.entries.append(entry)
            guard story.entries.count > 2 * Self.limit else { return }
            story.forgotten += Self.limit
            story.entries.removeFirst(Self.limit)
        }
    }

    /// Notes a use of the harness that is no event.
    func use(_ what: @autoclosure () -> String, at place: String) { life.use { "\(what()) at \(place)" } }

    /// Indicates whether the test has ended.
    var isOver: Bool { life.isOver }

    /// The number of entries so far, including those that are no longer kept.
    var count: Int { story.withLock { $0.forgotten + $0.entries.count } }

    /// Returns whether an event of one of these kinds was recorded after the first `count` entries.
    func has(_ kinds: Set<String>, after count: Int) -> Bool {
        story.withLock { story in
            story.entries.dropFirst(max(0, count - story.forgotten)).contains { kinds.contains($0.kind) }
        }
    }

    /// One line for each entry; of a long timeline, only the end.
    public var description: String {
        let (forgotten, entries) = story.withLock { $0 }
        let shown = entries.suffix(40).map { "  \($0.redacted)" }
        let rest = forgotten + entries.count - shown.count
        return ((rest > 0 ? ["  … \(rest) earlier"] : []) + shown).joined(separator: "\n")
    }
}
