import PusherChannels

/// What happened in a test, with the virtual time: the story behind a failure. All members may be called from any thread.
public final class Timeline: Sendable, CustomStringConvertible {
    /// Something that happened.
    public struct Entry: Equatable, Sendable, CustomStringConvertible {
        /// When, by the test's clock.
        public let time: MonotonicTime
        /// What sort of thing, such as `request`, `sent` or `opened`.
        public let kind: String
        /// What.
        public let text: String

        /// `2.5 seconds  sent  {"event":…}`
        public var description: String { "\(time)  \(kind)  \(text)" }
    }

    private let journal = Journal<Entry>()
    private let now: @Sendable () -> MonotonicTime

    init(now: @escaping @Sendable () -> MonotonicTime) {
        self.now = now
    }

    /// Everything so far, in order.
    public var entries: [Entry] { journal.all }

    /// Writes something down.
    public func note(_ kind: String, _ text: String) {
        journal.append(Entry(time: now(), kind: kind, text: text))
    }

    /// One line an entry; of a long story, the end.
    public var description: String {
        let entries = entries
        let shown = entries.suffix(40).map { "  \($0)" }
        let rest = entries.count - shown.count
        return ((rest > 0 ? ["  … \(rest) earlier"] : []) + shown).joined(separator: "\n")
    }
}
