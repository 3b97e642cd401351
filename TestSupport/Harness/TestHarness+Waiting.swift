import PusherChannels

extension TestHarness {
    /// Returns when a condition holds; moves time from timer to timer until it does.
    ///
    /// ```swift
    /// try harness.eventually("the orders are subscribed", within: .seconds(10)) { orders.subscribed }
    /// ```
    ///
    /// - Parameters:
    ///   - what: Names the condition in the error.
    ///   - limit: The most virtual time that may pass.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    ///   - condition: Is looked at before each timer and after the last.
    /// - Throws: ``NeverHappened`` when no timer within the limit is left, with what happened and what is scheduled; what the condition
    ///   throws.
    @available(
        *, noasync,
        message: "write `try await`, and begin a closure of one line that has a capture list `{ [list] () async in`"
    )
    @_disfavoredOverload  // In asynchronous code the other one is meant.
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

    /// Returns when a condition holds; moves time from timer to timer until it does, and lets other threads go on before each.
    ///
    /// On a ``TestExecutor`` of the harness's it does what ``TestExecutor/eventually(_:within:_:)`` does. Elsewhere nobody knows whether
    /// another thread or task still works for the condition: it gets a moment of real time before each timer, and `patience` after the
    /// last. To wait for other threads alone, say `within: .zero`: no time passes in the harness, so that no state is over before it was
    /// looked at. A condition that gives no answer for a second of real time is taken to wait for a timer, too: time moves meanwhile.
    ///
    /// - Parameters:
    ///   - what: Names the condition in the error.
    ///   - limit: The most virtual time that may pass.
    ///   - patience: The least time to wait for other threads, and for the condition's reply, when no timer is left, in real time.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    ///   - isolation: The actor that the test runs on, by default the caller's.
    ///   - condition: Is looked at again and again, in a task of its own, which is cancelled when the wait is over.
    /// - Throws: ``NeverHappened``, with what happened and what is scheduled; `CancellationError` when the task is cancelled; what the
    ///   condition throws.
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
    private struct LookWait {
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

    /// Waits for other threads, which may make timers, too.
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

    /// Looks at the condition. Where that takes a second it may wait for a timer: time moves then as it does between looks.
    ///
    /// - Returns: `nil` when no timer is left and there is no answer for as long as the wait is patient.
    private func look(_ wait: LookWait) async throws -> Bool? {
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

    private func neverHappened(_ what: String, _ limit: Duration, _ file: String, _ line: Int, others: String)
        -> NeverHappened
    {
        var error = NeverHappened(what: what, limit: limit, now: scheduler.now, pending: scheduler.pendingTimers)
        let others = runExecutor() ? others : "\(others)on the harness's executor something polls and never comes to rest; "
        error.story = told(others, file, line)
        return error
    }

    private func told(_ others: String, _ file: String, _ line: Int) -> String {
        "\(others)at \(sourceLocation(file, line)), in the harness made at \(location), this had happened:\n\(story)"
    }

    /// Lets others go on for a moment of real time, at most until a look has its answer; on an executor, which may have nothing to do
    /// meanwhile, too.
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
