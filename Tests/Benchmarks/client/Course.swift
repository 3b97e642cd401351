import Dispatch
import PusherChannels

/// From the feed's `begin` to the last event that somebody waits for.
final class Course: Sendable {
    private struct State {
        var prepared = Usage()
        var began = Usage()
        var ended = Usage()
        var runners: Int
        var complaint: String?
    }

    private let state: Locked<State>
    private let finished = DispatchSemaphore(value: 0)
    private let ready = DispatchSemaphore(value: 0)

    /// It is over when so many have said that they are there.
    init(runners: Int = 1) {
        state = Locked(State(runners: runners))
    }

    /// Somebody is subscribed.
    func getReady() {
        ready.signal()
    }

    /// Waits until so many are subscribed; throws when something goes wrong before, or nothing happens.
    func waitUntilReady(_ count: Int = 1) throws {
        for number in 0..<count {
            let isReady = ready.wait(timeout: .now() + 100) == .success
            if let complaint = state.withLock({ $0.complaint }) { throw Failure(complaint) }
            guard isReady else { throw Failure("\(count - number) of \(count) were not subscribed") }
        }
    }

    /// All is subscribed to; what that took is known.
    func begin() {
        state.withLock { $0.began = Usage() }
    }

    /// One more has all that it waited for.
    func arrive() {
        let isLast = state.withLock { state in
            state.runners -= 1
            if state.runners == 0 { state.ended = Usage() }
            return state.runners == 0
        }
        if isLast { finished.signal() }
    }

    /// It can't come to its end.
    func fail(_ complaint: String) {
        state.withLock { $0.complaint = $0.complaint ?? complaint }
        finished.signal()
        ready.signal()
    }

    /// Waits for the end, and gives what it took to get there from the beginning, and to begin.
    func end() throws -> (preparing: Usage, running: Usage) {
        let isOver = finished.wait(timeout: .now() + 100) == .success
        let state = state.withLock { $0 }
        if let complaint = state.complaint { throw Failure(complaint) }
        guard isOver else { throw Failure("\(state.runners) did not get all their events") }
        return (state.began - state.prepared, state.ended - state.began)
    }
}

/// Counts events that come one after the other, on whatever thread.
///
/// `@unchecked` as the order of the deliveries is what makes that safe: a lock would be a part of what is measured.
final class Counter: @unchecked Sendable {
    private var missing: Int
    private let course: Course

    init(_ wanted: Int, _ course: Course) {
        missing = wanted
        self.course = course
    }

    func add() {
        missing -= 1
        if missing == 0 { course.arrive() }
    }
}

/// Tells the course of what goes wrong.
final class Referee: PusherDelegate, Sendable {
    private let course: Course

    init(_ course: Course) {
        self.course = course
    }

    func receivedError(error: PusherError) {
        course.fail("\(error)")
    }

    func failedToDecryptEvent(eventName: String, channelName: String, data: String?) {
        course.fail("can't decrypt \(eventName)")
    }
}
