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
    ///   - limit: How much virtual time may pass.
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
    /// last. Who waits for other threads alone says `within: .zero`: no time passes in the harness, so that no state is over before it was
    /// looked at.
    ///
    /// - Parameters:
    ///   - what: Names the condition in the error.
    ///   - limit: How much virtual time may pass.
    ///   - patience: How long to wait at least for other threads when no timer is left, in real time.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    ///   - isolation: The actor that the test runs on, by default the caller's.
    ///   - condition: Is looked at again and again.
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
        let deadline = scheduler.now + limit
        while true {
            repeat {
                for _ in 0..<Self.turns {
                    try Task.checkCancellation()
                    runExecutor()
                    if try await condition() { return }
                    await Self.pause(.milliseconds(2))
                }
            } while scheduler.runNextTimer(dueBy: deadline, atMost: TestScheduler.mostTimersAtOnce)
            switch try await others(until: deadline, patience, condition) {
            case .theConditionHolds: return
            case .aTimerRan: continue
            case .nothing:
                throw neverHappened(what, limit, file, line, others: "other threads had \(patience) of real time at least; ")
            }
        }
    }

    /// What other threads came to while no timer was left.
    private enum OthersWork { case theConditionHolds, aTimerRan, nothing }

    /// Waits for other threads, which may make timers, too.
    private func others(
        until deadline: Instant, _ patience: Duration, _ condition: @Sendable () async throws -> Bool
    ) async throws -> OthersWork {
        let isOver = Locked(false)
        let watchdog = Watchdog(patience: patience) { isOver.withLock { $0 = true } }
        defer { watchdog.callOff() }
        while true {
            runExecutor()
            if try await condition() { return .theConditionHolds }
            if scheduler.runNextTimer(dueBy: deadline, atMost: TestScheduler.mostTimersAtOnce) { return .aTimerRan }
            guard !isOver.withLock(\.self) else { return .nothing }
            try Task.checkCancellation()
            await Self.pause(.milliseconds(5))
        }
    }

    /// How often a condition is looked at before time moves on.
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

    /// Lets others go on for a moment of real time; on an executor, which may have nothing to do meanwhile, too.
    static func pause(_ duration: Duration) async {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *), let executor = TestExecutor.current {
            await executor.outside { await pauseHere(duration) }
        } else {
            await pauseHere(duration)
        }
    }

    private static func pauseHere(_ duration: Duration) async {
        let clock = LiveScheduler()
        let (passing, signal) = AsyncStream<Never>.makeStream()
        let timer = clock.schedule(at: clock.now + duration, label: "others' turn") { signal.finish() }
        for await _ in passing {}
        timer.cancel()
    }
}
