import PusherChannels

/// A wait for an entry of a ``Recorder``, as an error tells of it.
struct RecorderWait: Sendable {
    /// The description of the entry.
    let wanted: String
    /// The least time to wait, in real time.
    let patience: Duration
    /// The place where the test waits, `Tests.swift:12`.
    let place: String
    /// The virtual time of what is waited for, where the recorder doesn't know it.
    let scheduler: TestScheduler?
    /// Indicates whether the entries before it are lost to later waits.
    let passesOver: Bool

    init(
        _ wanted: String, within patience: Duration, at place: String, scheduler: TestScheduler? = nil, passesOver: Bool = false
    ) {
        self.wanted = wanted
        self.patience = patience
        self.place = place
        self.scheduler = scheduler
        self.passesOver = passesOver
    }

    /// The error that other things came, or nothing, and what was no longer to be had.
    func nothing(but instead: [String], after taken: [String], in scheduler: TestScheduler?) -> NothingCame {
        let time = (self.scheduler ?? scheduler).map { "; virtual time is \($0.now), scheduled: \($0.pendingTimers.names)" }
        return NothingCame(
            wanted: wanted, patience: patience, instead: instead, taken: taken, story: "waited for at \(place)\(time ?? "")")
    }
}

/// An entry that a test waited for did not come in time.
public struct NothingCame: Error, Equatable, Sendable, CustomStringConvertible {
    /// The description of the entry that was waited for.
    public let wanted: String
    /// The time for which it was waited for.
    public let patience: Duration
    /// The entries that had come by then, and that nobody got.
    public let instead: [String]
    /// The entries that had come by then, and that somebody got or passed over before.
    public let taken: [String]
    /// The place of the wait, and the virtual time: what was scheduled comes only when the test moves it.
    public let story: String

    /// Names what was waited for, and what came: the latest.
    public var description: String {
        let came = instead.isEmpty ? "nothing\(taken.isEmpty ? "" : " else") came" : "came: \(Self.latest(of: instead))"
        let before = taken.isEmpty ? "" : "; got or passed over before: \(Self.latest(of: taken))"
        return "no \(wanted) within \(patience) at least; \(came)\(before); \(story)"
    }

    private static func latest(of entries: [String]) -> String {
        let latest = entries.suffix(20)
        let earlier = entries.count == latest.count ? "" : "… \(entries.count - latest.count) earlier, "
        return earlier + latest.joined(separator: ", ")
    }
}
