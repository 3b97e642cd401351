import PusherChannels

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension TestExecutor {
    /// Runs a body on the executor, on the caller's thread, and returns its result.
    ///
    /// When it ends, jobs that are ready on the executor still run, and what other tasks wait for on it is given up, without
    /// moving time. A body that is given up is cancelled and may unwind; one that ignores cancellation is left behind.
    ///
    /// - Parameters:
    ///   - time: The way in which the clock moves.
    ///   - limit: The number of jobs and timers that may run before the body is given up.
    ///   - file: The file of the call, for what is thrown; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    ///   - body: The body, which runs nonisolated with the caller's task-local values and is cancelled when the caller is.
    /// - Throws: ``Deadlock`` as soon as the body can't continue, ``Livelock`` beyond the limit, ``ExecutorIsRunning``, or any
    ///   error from the body.
    @discardableResult
    public func run<Value: Sendable>(
        time: Time = .manual, limit: Int = 1_000_000, file: String = #fileID, line: Int = #line,
        _ body: @escaping @Sendable (TestExecutor) async throws -> Value
    ) async throws -> Value {
        let isFirst = waiters.withLock { waiters in
            defer { waiters.isRunning = true }
            return !waiters.isRunning
        }
        guard isFirst else { throw ExecutorIsRunning() }
        defer { waiters.withLock { $0.isRunning = false } }

        let result = Locked<Result<Value, any Error>?>(nil)
        let task = Task(executorPreference: self) {
            let outcome: Result<Value, any Error>
            do {
                outcome = .success(try await Self.$current.withValue(self) { try await body(self) })
            } catch {
                outcome = .failure(error)
            }
            result.withLock { $0 = outcome }
        }
        return try await withTaskCancellationHandler {
            defer { unwind() }
            do {
                return try await makeSteps(time, limit: limit) { result.withLock { $0 } }.get()
            } catch {
                defer { task.cancel() }
                guard var deadlock = error as? Deadlock, deadlock.place.isEmpty else { throw error }
                await takeStragglers { result.withLock { $0 != nil } }
                deadlock.place = sourceLocation(file, line)
                throw deadlock
            }
        } onCancel: {
            task.cancel()
        }
    }

    private func makeSteps<Value>(_ time: Time, limit: Int, until value: () -> Value?) async throws -> Value {
        var steps = 0
        while true {
            let calls = calls
            if let value = value() { return value }
            let isOutside = waiters.withLock { $0.outside > 0 }
            if step() || (time == .automatic && !isOutside && runTimer(dueBy: nil)) {
                steps += 1
                guard steps <= limit else {
                    throw Livelock(steps: limit, now: scheduler.now, pending: scheduler.pendingTimers)
                }
            } else if isOutside {
                await waitForCall(since: calls)
            } else {
                throw Deadlock(now: scheduler.now, pending: scheduler.pendingTimers)
            }
        }
    }

    /// Lets what other threads were about to deliver come in before the body is cancelled: Foundation on Linux ends the process
    /// if a `URLSession` request is cancelled while its response arrives.
    private func takeStragglers(until isOver: () -> Bool) async {
        let watchdog = Watchdog(patience: .milliseconds(50))
        defer { watchdog.callOff() }
        while !isOver(), !watchdog.isOver {
            if !step() { await TestHarness.pause(.milliseconds(1)) }
        }
    }

    /// Lets what is ready end, up to a limit, because it may run forever. Time stands still: the test has seen the last of it.
    private func unwind() {
        var steps = 0
        while steps < 10_000, stepWithoutTime() || giveUpWait(movingTime: false) { steps += 1 }
    }

    /// Makes one step: a job, a timer that is due, or else what someone on the executor waits for.
    ///
    /// - Returns: `false` when there is nothing to do.
    func step() -> Bool {
        if stepWithoutTime() { return true }
        guard let horizon = waiters.withLock({ $0.horizon }) else { return false }
        if !runTimer(dueBy: horizon.time) { endWait(horizon) }
        return true
    }

    private func stepWithoutTime() -> Bool {
        if runNextJob() {
            waiters.withLock { $0.jobRan() }
            return true
        }
        if runTimer(dueBy: scheduler.now) { return true }
        guard let look = waiters.withLock({ $0.takeChanged() }) else { return false }
        look(true)
        return true
    }

    /// Ends the next wait, because what is ready never comes to rest, or the body has ended. Returns `false` if there is none.
    @discardableResult
    func giveUpWait(movingTime: Bool = true) -> Bool {
        guard let horizon = waiters.withLock({ $0.horizon }) else { return false }
        endWait(horizon, movingTime: movingTime)
        return true
    }

    private func endWait(_ horizon: (time: Instant, isRest: Bool), movingTime: Bool = true) {
        if horizon.isRest {
            if movingTime { scheduler.run(to: horizon.time, from: "a wait on an executor") }
            waiters.withLock { $0.takeRested() }?(true)
        } else {
            waiters.withLock { $0.takeLost() }?(false)
        }
    }

    private func runTimer(dueBy limit: Instant?) -> Bool {
        guard scheduler.runNextTimer(dueBy: limit) else { return false }
        waiters.withLock { $0.timerRan() }
        return true
    }
}
