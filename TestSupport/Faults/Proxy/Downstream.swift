import PusherChannels

/// The bytes that a server sent on one connection and the client hasn't received yet. It decides what happens to them, but does
/// nothing itself.
struct Downstream {
    /// The end of the server's side.
    enum End: Equatable {
        case finished, reset
    }

    /// The next step.
    enum Step: Equatable {
        /// Pass on this number of bytes.
        case pass(Int)
        /// Wait until this time, or with `nil` until something changes.
        case wait(until: Instant?)
        case stop(FaultPlan.Stop)
        /// Everything has been passed on: end the connection as the server did.
        case end(End)
    }

    private(set) var queue = ByteQueue()
    /// The number of bytes that the client has received.
    private(set) var passed = 0
    private var plan: FaultPlan
    private var shaper = Shaper()
    private var counter = FrameCounter()
    /// The end offsets of frames that haven't passed completely, starting with that of the HTTP head. `framesPassed` counts those
    /// that have.
    private var frameEnds: ArraySlice<Int> = []
    private var framesPassed = -1
    /// The arrival time of each piece, and the offset of its end.
    private var arrivals: ArraySlice<(end: Int, time: Instant)> = []
    private var end: (end: End, time: Instant)?

    init(_ plan: FaultPlan = FaultPlan()) {
        self.plan = plan
        shape()
    }

    // MARK: Faults

    mutating func add(_ fault: Fault) {
        plan.add(fault)
        shape()
    }

    mutating func heal() {
        plan = FaultPlan()
        shape()
    }

    private mutating func shape() {
        shaper.bandwidth = plan.bandwidth
        shaper.dribble = plan.dribble
    }

    // MARK: The server's side

    mutating func append(_ bytes: UnsafeRawBufferPointer, at now: Instant) {
        let start = passed + queue.count
        queue.append(bytes)
        counter.read(bytes) { frameEnds.append(start + $0) }
        arrivals.append((start + bytes.count, now))
    }

    mutating func finish(_ how: End, at now: Instant) {
        if end == nil { end = (how, now) }
    }

    // MARK: The client's side

    mutating func next(at now: Instant) -> Step {
        var limit = queue.count
        var due: FaultPlan.Stop?
        for (stop, position) in plan.stops {
            guard let left = bytesLeft(to: position) else { continue }
            limit = min(limit, left)
            if left == 0 { due = max(stop, due ?? stop) }
        }
        if let due { return .stop(due) }
        guard !queue.isEmpty else {
            guard let end else { return .wait(until: nil) }
            return now < end.time + plan.latency ? .wait(until: end.time + plan.latency) : .end(end.end)
        }
        let arrived = arrivals.last { $0.time + plan.latency <= now }?.end ?? passed
        guard arrived > passed else { return .wait(until: arrivals.first.map { $0.time + plan.latency }) }
        switch shaper.allowance(of: min(limit, arrived - passed), at: now) {
        case .pass(let bytes): return .pass(bytes)
        case .wait(let time): return .wait(until: time)
        }
    }

    /// Records that the client received bytes.
    mutating func pass(_ bytes: Int, at now: Instant) {
        queue.removeFirst(bytes)
        passed += bytes
        shaper.passed(bytes, at: now)
        while let first = arrivals.first, first.end <= passed { arrivals.removeFirst() }
        while let first = frameEnds.first, first <= passed {
            frameEnds.removeFirst()
            framesPassed += 1
        }
    }

    /// Discards the waiting bytes, which will never be sent.
    mutating func discard() {
        queue.removeAll()
        arrivals.removeAll()
    }

    /// Returns the largest number of bytes that may pass before a position is reached, or `nil` if that isn't known because the
    /// position is beyond the bytes that have arrived.
    private func bytesLeft(to position: Fault.Position) -> Int? {
        switch position {
        case .bytes(let bytes): return max(0, bytes - passed)
        case .frames(let frames):
            let ahead = max(0, frames) - framesPassed
            guard ahead > 0 else { return 0 }
            guard ahead <= frameEnds.count else { return nil }
            return frameEnds[frameEnds.startIndex + ahead - 1] - passed
        }
    }
}
