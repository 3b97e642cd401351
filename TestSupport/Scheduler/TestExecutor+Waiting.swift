import PusherChannels

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension TestExecutor {
    /// Waits until everything that is ready has run, including timers that are due, without moving time.
    ///
    /// While no body runs, a hundred thousand jobs and timers without the clock moving, and two seconds of real time, are
    /// considered a livelock, which a harness reports at the test's end.
    public func settle() async {
        _ = await wait(until: .rest(at: scheduler.now))
    }

    /// Moves time forward, timer by timer. Jobs that are ready run before and after each timer, and before this method returns.
    public func advance(by duration: Duration) async {
        _ = await wait(until: .rest(at: scheduler.now + duration))
    }

    /// Waits until a condition holds, evaluating it whenever the executor has come to rest and moving time from timer to timer.
    ///
    /// - Parameters:
    ///   - what: The name of the condition in the error.
    ///   - limit: The maximum virtual time that may pass.
    ///   - condition: The condition, evaluated again and again.
    /// - Throws: ``NeverHappened`` as soon as no timer within the limit is left; `CancellationError` if the task is cancelled;
    ///   any error from the condition.
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
                // Code that was outside the executor may have made it true as it came back.
                if try await condition() { return }
                throw NeverHappened(what: what, limit: limit, now: scheduler.now, pending: scheduler.pendingTimers)
            }
            progress = waiters.withLock { $0.progress }
        }
    }

    /// Marks a wait for something that doesn't happen on the executor, so it isn't taken for a deadlock:
    /// `let message = await executor.outside { await socket.next() }`.
    ///
    /// The executor then waits in real time, without a limit, and neither ``Time/automatic`` nor ``eventually(_:within:_:)``
    /// moves the clock meanwhile; ``advance(by:)`` does.
    ///
    /// - Throws: Any error from the body.
    public func outside<Result: Sendable>(_ body: @Sendable () async throws -> Result) async rethrows -> Result {
        waiters.withLock { $0.outside += 1 }
        defer {
            let isRunning = waiters.withLock { waiters in
                waiters.outside -= 1
                return waiters.isRunning
            }
            // If a body runs, the job that this leads to wakes its caller.
            if !isRunning { wake() }
        }
        return try await body()
    }

    /// Waits for an event. Returns whether it happened.
    private func wait(until event: ExecutorWaiters.Event) async -> Bool {
        let outcome: Bool? = await withCheckedContinuation { continuation in
            let isRunning = waiters.withLock { waiters in
                if waiters.isRunning { waiters.add(event) { continuation.resume(returning: $0) } }
                return waiters.isRunning
            }
            // The code that makes the steps may be asleep.
            if isRunning { wake() } else { continuation.resume(returning: nil) }
        }
        if let outcome { return outcome }
        return await makeSteps(until: event)
    }

    /// Makes the steps that a body's caller would make, because no body runs.
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
            // Some code is outside the executor.
            await waitForCall(since: calls)
        }
    }

    /// Makes steps until there are none left, or gives up the next wait, because a step may always make another. It doesn't give
    /// up before two seconds of real time have passed, too: the steps may poll for something from another thread.
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
            giveUpWait()
            return
        }
    }
}
