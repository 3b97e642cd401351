import PusherChannels

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension TestExecutor {
    /// Returns when all that is ready has run, including timers that are due; time stays where it is.
    ///
    /// While no body runs, a hundred thousand jobs and timers in which the clock doesn't move, and two seconds of real time, are taken for
    /// a livelock, which a harness reports at the test's end.
    public func settle() async {
        _ = await wait(until: .rest(at: scheduler.now))
    }

    /// Moves time forward, timer by timer; what is ready runs before and after each of them, and before this returns.
    public func advance(by duration: Duration) async {
        _ = await wait(until: .rest(at: scheduler.now + duration))
    }

    /// Returns when the condition holds; looks again whenever the executor has come to rest, and moves time from timer to timer.
    ///
    /// - Parameters:
    ///   - what: Names the condition in the error.
    ///   - limit: The most virtual time that may pass.
    ///   - condition: Is looked at again and again.
    /// - Throws: ``NeverHappened`` at once when no timer within the limit is left; `CancellationError` when the task is
    ///   cancelled; what the condition throws.
    public func eventually(
        _ what: String = "the condition", within limit: Duration = .seconds(60),
        _ condition: @Sendable () async throws -> Bool
    ) async throws {
        let deadline = scheduler.now + limit
        var progress = waiters.withLock { $0.progress }
        while true {
            try Task.checkCancellation()
            let isTrue: Bool
            do {
                isTrue = try await condition()
            } catch {
                waiters.withLock { $0.endLook(isOver: true) }
                throw error
            }
            waiters.withLock { $0.endLook(isOver: isTrue) }
            if isTrue { return }
            guard await wait(until: .change(since: progress, limit: deadline)) else {
                // Whoever was outside, off the executor, may have made it true as it came back.
                if try await condition() { return }
                throw NeverHappened(what: what, limit: limit, now: scheduler.now, pending: scheduler.pendingTimers)
            }
            progress = waiters.withLock { $0.progress }
        }
    }

    /// Says that a wait is for something that doesn't happen on the executor, so that it is no deadlock:
    /// `let message = await executor.outside { await socket.next() }`.
    ///
    /// The executor then waits for it in real time, and neither ``Time/automatic`` nor ``eventually(_:within:_:)`` moves the clock
    /// meanwhile; ``advance(by:)`` does. Nothing bounds that wait.
    ///
    /// - Throws: what the body throws.
    public func outside<Result: Sendable>(_ body: @Sendable () async throws -> Result) async rethrows -> Result {
        waiters.withLock { $0.outside += 1 }
        defer {
            let isRunning = waiters.withLock { waiters in
                waiters.outside -= 1
                return waiters.isRunning
            }
            // A body's caller waits for the job that this leads to.
            if !isRunning { wake() }
        }
        return try await body()
    }

    /// Returns whether the event came to be.
    private func wait(until event: ExecutorWaiters.Event) async -> Bool {
        let outcome: Bool? = await withCheckedContinuation { continuation in
            let isRunning = waiters.withLock { waiters in
                if waiters.isRunning { waiters.add(event) { continuation.resume(returning: $0) } }
                return waiters.isRunning
            }
            // The one who makes the steps may be asleep.
            if isRunning { wake() } else { continuation.resume(returning: nil) }
        }
        if let outcome { return outcome }
        return await makeSteps(until: event)
    }

    /// Makes the steps that the caller of a body would make: none runs.
    private func makeSteps(until event: ExecutorWaiters.Event) async -> Bool {
        let result = Locked<Bool?>(nil)
        waiters.withLock { waiters in
            waiters.add(event) { [self] isTrue in
                result.withLock { $0 = isTrue }
                wake()
            }
        }
        while true {
            let calls = calls
            makeStepsToRest()
            if let isTrue = result.withLock(\.self) { return isTrue }
            // Somebody is outside.
            await waitForCall(since: calls)
        }
    }

    /// Makes steps until there is none to make, or gives up the wait that is next: something may always make another. Not before two
    /// seconds of real time have passed as well: it may poll for what another thread brings.
    private func makeStepsToRest() {
        var (time, steps) = (scheduler.now, 0)
        var watchdog: Watchdog?
        defer { watchdog?.callOff() }
        while step() {
            if scheduler.now > time { (time, steps) = (scheduler.now, 0) }
            steps += 1
            guard steps >= TestExecutor.mostJobsAtOnce else { continue }
            let limit = watchdog ?? Watchdog(patience: .seconds(2))
            watchdog = limit
            guard limit.isOver else { continue }
            scheduler.record(Livelock(steps: steps, now: scheduler.now, pending: scheduler.pendingTimers))
            return giveUpWait()
        }
    }
}
