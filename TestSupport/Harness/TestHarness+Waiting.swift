import PusherChannels

extension TestHarness {
    /// Waits until a condition holds, moving time from timer to timer.
    ///
    /// ```swift
    /// try harness.eventually("the orders are subscribed", within: .seconds(10)) { orders.subscribed }
    /// ```
    ///
    /// - Parameters:
    ///   - what: The name of the condition in the error.
    ///   - limit: The maximum virtual time that may pass.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    ///   - condition: The condition, evaluated before each timer and after the last.
    /// - Throws: ``NeverHappened`` if no timer within the limit is left, with the events so far and the scheduled timers; any
    ///   error from the condition.
    @available(
        *, noasync,
        message: "write `try await`, and begin a closure of one line that has a capture list `{ [list] () async in`"
    )
    @_disfavoredOverload  // Asynchronous code is meant to use the other overload.
    public func eventually(
        _ what: String = "the condition", within limit: Duration = .seconds(60), file: String = #fileID, line: Int = #line,
        _ condition: () throws -> Bool
    ) throws {
        let (deadline, start, place) = (scheduler.now + limit, ContinuousClock.now, sourceLocation(file, line))
        timeline.use("eventually", at: place)
        try scheduler.moving(at: place, waits: true) {
            while true {
                runExecutor()
                if try condition() { return }
                guard !scheduler.isStuck(since: start) else { throw neverHappened(what, limit, file, line, others: stuckText) }
                guard scheduler.runNextTimer(dueBy: deadline, atMost: TestScheduler.mostTimersAtOnce) else {
                    let others =
                        "other threads had no time: in an asynchronous test `try await harness.eventually` gives them some; "
                    throw neverHappened(what, limit, file, line, others: others)
                }
            }
        }
    }

    /// Waits until a condition holds, moving time from timer to timer and letting other threads continue before each timer.
    ///
    /// On a ``TestExecutor`` of the harness, this works like ``TestExecutor/eventually(_:within:_:)``. Elsewhere, the harness
    /// can't know whether another thread or task is still working toward the condition, so it lets them run before each timer, as
    /// ``advance(by:file:line:isolation:)`` does, and gives them `patience` after the last. To wait for other threads alone, pass
    /// `within: .zero`: no time passes in the harness, so no state ends before it was looked at. If the condition doesn't return
    /// for a second of real time, the harness assumes that it waits for a timer, too, and moves time meanwhile.
    ///
    /// - Parameters:
    ///   - what: The name of the condition in the error.
    ///   - limit: The maximum virtual time that may pass.
    ///   - patience: The minimum real time to wait for other threads, and for the condition's reply, when no timer is left; by
    ///     default a second, and five once the harness has started a real server.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    ///   - isolation: The actor that the test runs on, by default the caller's.
    ///   - condition: The condition, evaluated again and again in a separate task, which is cancelled when the wait is over.
    /// - Throws: ``NeverHappened``, with the events so far and the scheduled timers; `CancellationError` if the task is
    ///   cancelled; any error from the condition.
    public func eventually(
        _ what: String = "the condition", within limit: Duration = .seconds(60), patience: Duration? = nil,
        file: String = #fileID, line: Int = #line, isolation: isolated (any Actor)? = #isolation,
        _ condition: @escaping @Sendable () async throws -> Bool
    ) async throws {
        let place = sourceLocation(file, line)
        timeline.use("eventually", at: place)
        do {
            if try await waitOnExecutor(what, limit, condition) { return }
        } catch var error as NeverHappened where error.story.isEmpty {
            let advice = """
                on an executor no other thread is waited for: have a client that is to be heard there call at once \
                (`delivery: .immediate` in its options), or wait without an executor;
                """
            error.story = told(advice + " ", file, line)
            throw error
        }
        let wait = LookWait(deadline: scheduler.now + limit, patience: patience ?? self.patience, condition: condition)
        let failure: String? =
            if limit > .zero {
                try await scheduler.moving(at: place, waits: true) { try await reason(wait, isolation: isolation) }
            } else {
                // It moves no time.
                try await reason(wait, isolation: isolation)
            }
        if let failure { throw neverHappened(what, limit, file, line, others: failure) }
    }

    /// Waits for a condition, and returns why it was given up; `nil` if it holds.
    private func reason(_ wait: LookWait, isolation: isolated (any Actor)?) async throws -> String? {
        let start = ContinuousClock.now
        while true {
            repeat {
                guard !scheduler.isStuck(since: start) else { return stuckText }
                try Task.checkCancellation()
                runExecutor()
                guard let holds = try await look(wait) else { return wait.noReply }
                if holds { return nil }
                await letOthersRun()
                if try await look(wait) == true { return nil }
            } while runNextTimer(wait)
            switch try await others(wait) {
            case .theConditionHolds: return nil
            case .aTimerRan: continue
            case .noReply: return wait.noReply
            case .nothing: return "other threads had \(wait.patience) of real time at least; "
            }
        }
    }

    /// Moves time forward, timer by timer, and lets tasks and other threads continue before the first and after each.
    ///
    /// On a running ``TestExecutor`` of the harness, this is ``TestExecutor/advance(by:)``. Elsewhere, every task of the caller's
    /// priority that is ready runs until it waits, and so does what that makes ready, as far as the harness can see it: timers,
    /// requests, messages. A task that sleeps three times for a second has slept three times after three seconds. What may come
    /// later is a step of a task with another priority, one that computes for more than a tenth of a second (five milliseconds
    /// while tasks of other tests compute, too), and one that goes through a dispatch queue of the code under test, or another
    /// clock. Wait for it with `eventually`, which proves it.
    ///
    /// - Parameters:
    ///   - duration: The time; a negative one is a finding.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    ///   - isolation: The actor that the test runs on, by default the caller's.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func advance(
        by duration: Duration, file: String = #fileID, line: Int = #line, isolation: isolated (any Actor)? = #isolation
    ) async throws {
        let place = sourceLocation(file, line)
        guard scheduler.isForward(duration, place) else { return }
        timeline.use("advance", at: place)
        if await state.withLock(\.advanceOnExecutor)(duration) { return }
        try await scheduler.moving(at: place) {
            try await move(to: scheduler.now + duration, from: place, isolation: isolation)
        }
    }

    private func move(to target: Instant, from place: String, isolation: isolated (any Actor)?) async throws {
        let start = ContinuousClock.now
        await letOthersRun()
        while scheduler.runNextTimer(dueBy: target, atMost: TestScheduler.mostTimersAtOnce) {
            try Task.checkCancellation()
            guard !scheduler.isStuck(since: start) else { return scheduler.giveUp(target, place) }
            await letOthersRun()
        }
        scheduler.move(to: max(target, scheduler.now))
    }

    /// Lets tasks and other threads run until nothing follows any more that the harness can see.
    private func letOthersRun() async {
        var (seen, quietTurns) = (progress, 0)
        // A task that polls may go on for ever.
        for turn in 0..<100 where quietTurns < 3 {
            await Self.outside { await TaskTurns.turn() }
            // Dispatch queues have threads of their own, which no turn waits for.
            if turn == 0 { await Self.pause(.milliseconds(1)) }
            runExecutor()
            quietTurns = progress == seen ? quietTurns + 1 : 0
            seen = progress
        }
    }

    /// A counter of what has happened in the harness.
    private var progress: Int { scheduler.changes + timeline.count }

    /// The real time that other threads get when no timer is left. Only real servers make them need more than a moment.
    private var patience: Duration { .seconds(hasServers ? 5 : 1) }

    private var stuckText: String {
        "given up after \(stuckAfter ?? .zero) of real time, as `stuckAfter:` says, while timers still ran; "
    }

    /// The limits of a wait for a condition.
    struct LookWait {
        let deadline: Instant
        let patience: Duration
        let condition: Condition

        var noReply: String { "the condition itself waits for something, and had \(patience) of real time at least; " }
    }

    private func runNextTimer(_ wait: LookWait) -> Bool {
        scheduler.runNextTimer(dueBy: wait.deadline, atMost: TestScheduler.mostTimersAtOnce)
    }

    /// The outcome of other threads' work while no timer was left.
    private enum OthersWork { case theConditionHolds, aTimerRan, noReply, nothing }

    /// Waits for other threads, which may also make timers.
    private func others(_ wait: LookWait) async throws -> OthersWork {
        let watchdog = Watchdog(patience: wait.patience)
        defer { watchdog.callOff() }
        while true {
            runExecutor()
            guard let holds = try await look(wait) else { return .noReply }
            if holds { return .theConditionHolds }
            if runNextTimer(wait) { return .aTimerRan }
            guard !watchdog.isOver else { return .nothing }
            try Task.checkCancellation()
            await Self.pause(.milliseconds(5))
        }
    }

    /// Evaluates the condition. If that takes a second, the condition may be waiting for a timer, so time moves as it does
    /// between evaluations.
    ///
    /// - Returns: `nil` if no timer is left and there is no reply within the wait's patience.
    func look(_ wait: LookWait) async throws -> Bool? {
        let look = Look(at: wait.condition)
        var (watchdog, isLate) = (Watchdog(patience: min(.seconds(1), wait.patience)), false)
        defer {
            watchdog.callOff()
            look.end()
        }
        while true {
            await Self.pause(.milliseconds(5), or: look)
            if let reply = look.reply { return try reply.get() }
            try Task.checkCancellation()
            runExecutor()
            guard isLate || watchdog.isOver else { continue }
            let hasMoved = runNextTimer(wait)
            if !hasMoved, isLate, watchdog.isOver { return nil }
            if hasMoved || !isLate {
                watchdog.callOff()
                (watchdog, isLate) = (Watchdog(patience: wait.patience), true)
            }
        }
    }

    func neverHappened(_ what: String, _ limit: Duration, _ file: String, _ line: Int, others: String)
        -> NeverHappened
    {
        var error = NeverHappened(what: what, limit: limit, now: scheduler.now, pending: scheduler.pendingTimers)
        let others = runExecutor() ? others : "\(others)on the harness's executor something polls and never comes to rest; "
        error.story = told(others, file, line)
        return error
    }

    private func told(_ others: String, _ file: String, _ line: Int) -> String {
        let story = story
        let entries = timeline.count
        state.withLock { $0.toldEntries = entries }
        let told =
            story.isEmpty
            ? """
            nothing had happened: no client, request, or timer was the harness's. Code under test needs its doubles: \
            `harness.pusherEnvironment()` for a client that it makes itself, `harness.clock` for a sleep, `harness.request` or \
            `harness.session` for requests. A sleep on a real clock takes real time, which only `patience:` gives it
            """
            : "this had happened:\n\(story)"
        return "\(others)at \(sourceLocation(file, line)), in the harness made at \(location), \(told)"
    }

    /// Lets others continue for a moment of real time, at most until a look has its reply. It works on an executor, too, which
    /// may have nothing to do meanwhile.
    static func pause(_ duration: Duration, or look: Look? = nil) async {
        await outside { await pauseHere(duration, look) }
    }

    /// Waits for something that doesn't happen on the current executor, if there is one.
    private static func outside(_ body: @Sendable () async -> Void) async {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *), let executor = TestExecutor.current {
            await executor.outside(body)
        } else {
            await body()
        }
    }

    private static func pauseHere(_ duration: Duration, _ look: Look?) async {
        let clock = LiveScheduler()
        let (passing, signal) = AsyncStream<Never>.makeStream()
        let timer = clock.schedule(at: clock.now + duration, label: "others' turn") { signal.finish() }
        look?.onReply { signal.finish() }
        for await _ in passing {}
        timer.cancel()
    }
}
