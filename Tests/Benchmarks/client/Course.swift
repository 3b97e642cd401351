import Dispatch
import Foundation
import PusherChannels

/// A measurement from the feed's `begin` to the last event that a runner waits for.
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

    /// Creates a measurement that is over when this number of runners has arrived.
    init(runners: Int = 1) {
        state = Locked(State(runners: runners))
    }

    /// Records that a runner is subscribed.
    func getReady() {
        ready.signal()
    }

    /// Waits until `count` runners are subscribed. Throws if something goes wrong first, or if nothing happens.
    func waitUntilReady(_ count: Int = 1) throws {
        for number in 0..<count {
            let isReady = ready.wait(timeout: .now() + 100) == .success
            if let complaint = state.withLock({ $0.complaint }) { throw Failure(complaint) }
            guard isReady else { throw Failure("\(count - number) of \(count) were not subscribed") }
        }
    }

    /// Begins the measurement: everything is subscribed to, and the cost of that is known.
    func begin() {
        state.withLock { $0.began = Usage() }
    }

    /// Records that another runner has everything that it waited for.
    func arrive() {
        let isLast = state.withLock { state in
            state.runners -= 1
            if state.runners == 0 { state.ended = Usage() }
            return state.runners == 0
        }
        if isLast { finished.signal() }
    }

    /// Ends the measurement with a complaint.
    func fail(_ complaint: String) {
        state.withLock { $0.complaint = $0.complaint ?? complaint }
        finished.signal()
        ready.signal()
    }

    /// Waits for the end. Returns the usage until the beginning, and the usage from there to the end.
    func end() throws -> (preparing: Usage, running: Usage) {
        let isOver = finished.wait(timeout: .now() + 100) == .success
        let state = state.withLock { $0 }
        if let complaint = state.complaint { throw Failure(complaint) }
        guard isOver else { throw Failure("\(state.runners) did not get all their events") }
        return (state.began - state.prepared, state.ended - state.began)
    }
}

/// A counter of events that come one after another, on any thread.
///
/// `@unchecked` because the order of the deliveries makes it safe. A lock would become a part of the measurement.
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

/// How long events took that come one after another, on any thread.
///
/// `@unchecked` for the same reason as ``Counter``.
final class Latencies: @unchecked Sendable {
    private var microseconds: [Double] = []

    init(_ wanted: Int) {
        microseconds.reserveCapacity(wanted)
    }

    func add(_ value: Double) {
        microseconds.append(value)
    }

    /// Adds the time since an event of a paced feed was sent, which is its number: `{"n":…`.
    func add(_ event: PusherEvent) {
        var sent = 0
        for byte in (event.data ?? "").utf8.dropFirst(5) {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { break }
            sent = sent * 10 + Int(byte - UInt8(ascii: "0"))
        }
        add(Usage.clock * 1e6 - Double(sent))
    }

    /// Members of a JSON object, with a comma before each.
    var members: String {
        let sorted = microseconds.sorted()
        return [("p50_us", 0.5), ("p99_us", 0.99), ("p999_us", 0.999)]
            .map { String(format: #","%@":%.1f"#, $0, sorted[Int(Double(sorted.count) * $1)]) }.joined()
    }
}

/// As a delegate, a course ends with a client's error.
extension Course: PusherDelegate {
    func receivedError(error: PusherError) { fail("\(error)") }
    func clientReported(error: PusherError) { fail("\(error)") }

    func failedToDecryptEvent(eventName: String, channelName: String, data: String?) {
        fail("can't decrypt \(eventName)")
    }
}
