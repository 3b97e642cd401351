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
        let deadline = scheduler.now + limit
        while true {
            runExecutor()
            if try condition() { return }
            guard scheduler.runNextTimer(dueBy: deadline, atMost: TestScheduler.mostTimersAtOnce) else {
                let others = "other threads had no time: in an asynchronous test `try await harness.eventually` gives them some; "
                throw neverHappened(what, limit, file, line, others: others)
            }
        }
    }

    /// Waits until a condition holds, moving time from timer to timer and letting other threads continue before each timer.
    ///
    /// On a ``TestExecutor`` of the harness, this works like ``TestExecutor/eventually(_:within:_:)``. Elsewhere, the harness
    /// can't know whether another thread or task is still working toward the condition, so it gives them a moment of real time
    /// before each timer, and `patience` after the last. To wait for other threads alone, pass `within: .zero`: no time passes in
    /// the harness, so no state ends before it was looked at. If the condition doesn't return for a second of real time, the
    /// harness assumes that it waits for a timer, too, and moves time meanwhile.
    ///
    /// - Parameters:
    ///   - what: The name of the condition in the error.
    ///   - limit: The maximum virtual time that may pass.
    ///   - patience: The minimum real time to wait for other threads, and for the condition's reply, when no timer is left.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    ///   - isolation: The actor that the test runs on, by default the caller's.
    ///   - condition: The condition, evaluated again and again in a separate task, which is cancelled when the wait is over.
    /// - Throws: ``NeverHappened``, with the events so far and the scheduled timers; `CancellationError` if the task is
    ///   cancelled; any error from the condition.
    public func eventually(
        _ what: String = "the condition", within limit: Duration = .seconds(60), patience: Duration = .seconds(5),
        file: String = #fileID, line: Int = #line, isolation: isolated (any Actor)? = #isolation,
        _ condition: @escaping @Sendable () async throws -> Bool
    ) async throws {
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
        let wait = LookWait(deadline: scheduler.now + limit, patience: patience, condition: condition)
        while true {
            repeat {
                for _ in 0..<Self.turns {
                    try Task.checkCancellation()
                    runExecutor()
                    guard let holds = try await look(wait) else {
                        throw neverHappened(what, limit, file, line, others: wait.noReply)
                    }
                    if holds { return }
                    await Self.pause(.milliseconds(2))
                }
            } while runNextTimer(wait)
            switch try await others(wait) {
            case .theConditionHolds: return
            case .aTimerRan: continue
            case .noReply: throw neverHappened(what, limit, file, line, others: wait.noReply)
            case .nothing:
                throw neverHappened(what, limit, file, line, others: "other threads had \(patience) of real time at least; ")
            }
        }
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

    /// The number of times that a condition is evaluated before time moves on.
    private static var turns: Int { 5 }

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
        let told =
            story.isEmpty
            ? """
            nothing had happened: no client or request was the harness's. Code under test that makes its own client needs \
            `environment: harness.pusherEnvironment()`
            """
            : "this had happened:\n\(story)"
        return "\(others)at \(sourceLocation(file, line)), in the harness made at \(location), \(told)"
    }

    /// Lets others continue for a moment of real time, at most until a look has its reply. It works on an executor, too, which
    /// may have nothing to do meanwhile.
    static func pause(_ duration: Duration, or look: Look? = nil) async {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *), let executor = TestExecutor.current {
            await executor.outside { await pauseHere(duration, look) }
        } else {
            await pauseHere(duration, look)
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
