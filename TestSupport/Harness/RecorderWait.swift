import PusherChannels

/// A wait for an entry of a ``Recorder``, as an error tells of it.
struct RecorderWait: Sendable {
    /// The description of the entry.
    let wanted: String
    /// How long to wait at least, in real time.
    let patience: Duration
    /// Where the test waits, `Tests.swift:12`.
    let place: String
    /// The virtual time of what is waited for, where the recorder doesn't know it.
    let scheduler: TestScheduler?
    /// Whether nobody gets the entries before it any more.
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

    /// The error that other things came, or nothing.
    func nothing(but instead: [String], in scheduler: TestScheduler?) -> NothingCame {
        let time = (self.scheduler ?? scheduler).map { "; virtual time is \($0.now), scheduled: \($0.pendingTimers.names)" }
        return NothingCame(
            wanted: wanted, patience: patience, instead: instead, story: "waited for at \(place)\(time ?? "")")
    }
}

/// An entry that a test waited for did not come in time.
public struct NothingCame: Error, Equatable, Sendable, CustomStringConvertible {
    /// The description of the entry that was waited for.
    public let wanted: String
    /// The time for which it was waited for.
    public let patience: Duration
    /// The entries that had come by then.
    public let instead: [String]
    /// Where it was waited for, and where virtual time stood: what was scheduled comes only when the test moves it.
    public let story: String

    /// Names what was waited for, and what came.
    public var description: String {
        "no \(wanted) within \(patience); \(instead.isEmpty ? "nothing came" : "came: \(instead.joined(separator: ", "))"); \(story)"
    }
}
