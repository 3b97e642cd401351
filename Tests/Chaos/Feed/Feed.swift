import Foundation
import Processes
import PusherChannels

/// A feed of numbered events, with the notifications that a client reports about it.
actor Feed {
    private struct Waiter {
        let isMet: @Sendable (Feed.State) -> Bool
        let note: Note<Void>
    }

    /// The facts known so far, for callers that wait for them.
    struct State: Sendable {
        fileprivate(set) var ledger = Ledger()
        /// All notifications except events.
        fileprivate(set) var heard: [Heard] = []
        /// The number of events received.
        fileprivate(set) var events = 0
        fileprivate(set) var connection = ""
    }

    private(set) var state = State()
    private var waiters: [Waiter] = []

    func clientsClockIs(ahead seconds: Double) {
        state.ledger.clockAhead = seconds
    }

    func begin() -> Int {
        state.ledger.begin(at: Date())
    }

    /// The number that the backend has committed.
    var committed: Int { state.ledger.nextNumber - 1 }

    func failed(_ number: Int) {
        state.ledger.failed(number)
    }

    func hear(_ heard: Heard) {
        state.ledger.hear(heard)
        if case .event = heard { state.events += 1 } else { state.heard.append(heard) }
        if case .state(let connection) = heard { state.connection = connection }
        waiters.removeAll { waiter in
            guard waiter.isMet(state) else { return false }
            waiter.note.send(())
            return true
        }
    }

    /// Returns when the condition is met, or when the task is cancelled.
    func wait(until isMet: @escaping @Sendable (State) -> Bool) async {
        guard !isMet(state) else { return }
        let note = Note<Void>()
        waiters.append(Waiter(isMet: isMet, note: note))
        _ = await note.next()
    }
}

/// Publishes to a server, one event after the other.
struct Publisher: Sendable {
    let feed: Feed
    let api: PusherHTTPAPI
    let interval: Duration

    init(feed: Feed, port: Int, interval: Duration) {
        self.feed = feed
        self.interval = interval
        api = PusherHTTPAPI(
            appID: "1", key: "local-key", secret: "local-secret", host: .host("127.0.0.1"), port: port, useTLS: false,
            options: PusherHTTPAPIOptions(retryPolicy: .none))
    }

    /// Publishes until the task is cancelled.
    func run() async {
        let clock = ContinuousClock()
        while !Task.isCancelled {
            let next = clock.now + interval
            let number = await feed.begin()
            do {
                try await api.trigger(channels: FeedEvent.channels, eventName: FeedEvent.name, data: "\(number)")
            } catch {
                await feed.failed(number)
            }
            try? await clock.sleep(until: next)
        }
    }
}

/// The events that reveal losses: numbered, and the same on all channels.
enum FeedEvent {
    static let name = "tick"
    static let channels = ["feed", "private-feed", "presence-feed"]
    /// The channel that a client follows, in scenarios in which it keeps a copy.
    static let followed = "private-feed"
}
