import PusherChannels

/// A wait for an entry of a ``Recorder``, as described in errors.
struct RecorderWait: Sendable {
    /// The description of the entry.
    let wanted: String
    /// The minimum real time to wait. Only other threads can do something meanwhile, so a busy machine needs more than a moment.
    let patience: Duration
    /// The place where the test waits, `Tests.swift:12`.
    let place: String
    /// The virtual time of the entry, if the recorder doesn't know it.
    private let scheduler: TestScheduler?
    /// Indicates whether entries before the match are skipped for later waits.
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

    /// Returns the error for the wait, with the other entries that came and those that were no longer available.
    func nothing(but instead: [String], after taken: [String], in scheduler: TestScheduler?) -> NothingCame {
        let time = (self.scheduler ?? scheduler).map { scheduler in
            let pending = scheduler.pendingTimers
            let advice = pending.isEmpty ? "" : "; this wait moves no time: advance it first, or use `harness.eventually`"
            return "; virtual time is \(scheduler.now), scheduled: \(pending.names)\(advice)"
        }
        return NothingCame(
            wanted: wanted, patience: patience, instead: instead, taken: taken, story: "waited for at \(place)\(time ?? "")")
    }
}

/// An error thrown when an entry that a test waits for doesn't come in time.
public struct NothingCame: Error, Equatable, Sendable, CustomStringConvertible {
    /// The description of the entry that was waited for.
    public let wanted: String
    /// The minimum time that the test waited.
    public let patience: Duration
    /// The entries that had come by then and that nobody got.
    public let instead: [String]
    /// The entries that had come by then and that somebody got or skipped before.
    public let taken: [String]
    /// The place of the wait, and the virtual time with its scheduled timers, which fire only when the test moves it.
    public internal(set) var story: String

    /// The entry that was waited for, and the latest entries that came.
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
