import Foundation
import PusherChannels

extension TestHarness {
    /// Ends the test, and checks that nothing is left over; objects that the test still holds aren't leaks. Another thread has a
    /// moment of real time to release an open socket, such as a thread that is calling a delegate.
    ///
    /// The harness is not used afterward: its stubs' closures are released, its hosts given back, its servers are being stopped,
    /// and a later use fails the test in which it comes, or the run.
    ///
    /// - Throws: ``TestFailure`` with all findings.
    public func verify() throws(TestFailure) {
        if hasServers { Task { await stopServers() } }
        try finish(alive: false)
    }

    /// Checks that nothing is left over, and reports the events of a test that has failed, according to XCTest's
    /// `testRun?.totalFailureCount` for example.
    ///
    /// - Throws: ``TestFailure`` if anything was found, or if the test has failed and its timeline isn't empty.
    public func verify(hasFailed: Bool) throws(TestFailure) {
        try verify()
        let story = story
        // XCTest has shown the error that told it, and a client that went away since is nothing new.
        if hasFailed, !story.isEmpty, timeline.count != state.withLock(\.toldEntries) {
            throw TestFailure(location: location, findings: [], timeline: story)
        }
    }

    // MARK: Beginning and end

    /// Begins the test; of a harness made by hand with its first use, because XCTest makes all of them, and their clients, before its first test.
    func begin() {
        let watchdog = watchForStuckTest()
        state.withLock { $0.watchdog = watchdog }
        if life.isOver { watchdog?.callOff() }
        refuseNesting()
    }

    /// Ends the test.
    ///
    /// - Parameter alive: True to report clients and tasks that are still alive, too.
    func finish(alive: Bool) throws(TestFailure) {
        session.release()
        waitForLastOwners(alive: alive)
        state.withLock { state in
            state.leakAdvice = """
                ; if a task holds it, end the task before, or use the asynchronous `try await withTestHarness`: this test waits on \
                a thread that tasks need
                """
        }
        defer { end() }
        try verify(alive: alive)
    }

    /// Ends the test in the same way without blocking the thread.
    func finish(alive: Bool) async throws(TestFailure) {
        await stopServers()
        session.release()
        await waitForLastOwners(alive: alive)
        defer { end() }
        try verify(alive: alive)
    }

    /// Returns the error to report for a test that ended with an error: with the findings, which may be its cause, and with the
    /// events. What no report can have goes to standard error.
    func ended(with error: any Error) -> any Error {
        defer {
            try? verify(alive: false)
            end()
        }
        guard let text = untold(by: error) else { return error }
        let besides = text.hasPrefix("besides, ") ? text : String(text.dropFirst("\(error)\n".count))
        switch error {
        case var error as NeverHappened:
            error.story = [error.story, besides].filter { !$0.isEmpty }.joined(separator: "\n")
            return error
        case var error as NothingCame:
            error.story += "\n\(besides)"
            return error
        case var error as Deadlock:
            error.story = besides
            return error
        default:
            let type = "\(Swift.type(of: error))"
            // These end a test without an issue.
            let isSilent = error is CancellationError ? Task.isCancelled : ["XCTSkip", "SkipInfo"].contains(type)
            guard !isSilent, text.contains("\nbesides, "), var failure = failure(alive: false) else {
                writeToStandardError(text)
                return error
            }
            // The framework has reported this one where it was thrown.
            let isTold = ["ExpectationFailedError", "XCTestErrorWhileUnwrappingOptional"].contains(type)
            failure.cause = isTold ? nil : "\(error)"
            return failure
        }
    }

    /// Ends the harness with its test: what uses it afterward has outlived the test.
    private func end() {
        session.release()
        state.withLock { $0.watchdog.take() }?.callOff()
        life.end { [weak self, location] what in
            let text = """
                the harness made at \(location) had ended when this came: \(what). A task, a client, or a static variable outlived \
                its test: end it there, or make one for each test
                """
            if let current = TestHarness.current, !current.timeline.isOver {
                current.record(text)
            } else {
                // A test case that shares the harness verifies it again.
                self?.state.withLock { $0.recorded.append(Finding(.error, text)) }
                ForgottenHarnesses.tell(text)
            }
        }
    }

    /// Reports that the test of another harness is running: the two have two clocks, and two servers that don't know each other.
    private func refuseNesting() {
        guard let outer = TestHarness.current, !outer.timeline.isOver else { return }
        record(
            """
            a harness was made within the test of the one made at \(outer.location), which has another clock and another server: pass \
            that one on, or use `TestHarness.current`
            """)
    }

    /// The time that a test has after a call would have given up. It is long because nothing is as bad as the end of the process,
    /// and a test may make several such calls on a machine that has a thousand other tests to run.
    package static let grace = Locked(Duration.seconds(60))

    /// Ends the process if the test never does: nobody can end a thread that is blocked.
    private func watchForStuckTest() -> Watchdog? {
        guard let stuckAfter else { return nil }
        let grace = Self.grace.withLock(\.self)
        return Watchdog(patience: stuckAfter + grace, turnLimit: grace) { [weak self] in
            guard let self else { return }
            writeToStandardError(
                """
                \(standing("was stuck"))
                a thread is blocked, or never comes to rest, or a test case has not called `verify()`, so nothing can end the test \
                but the end of this process. Wait for others with `try await harness.eventually`; `stuckAfter:` sets the limit, \
                \(stuckAfter) now
                """)
            fflush(nil)
            _exit(EXIT_FAILURE)
        }
    }

    /// Prints where a test was when it was cancelled, such as by a time limit. If the test is waiting for something that can't be
    /// cancelled, such as the value of a task, it continues to wait and its error is never seen.
    func tellOfCancellation() { writeToStandardError(standing("was cancelled")) }

    /// A report of a test that doesn't end.
    func standing(_ state: String) -> String {
        """
        the test with the harness made at \(location) \(state); virtual time is \(scheduler.now), scheduled: \
        \(scheduler.pendingTimers.names); what happened:
        \(story)
        """
    }

    /// Returns the findings besides a test's own error, and the events, without repeating anything that the error itself reports.
    func untold(by error: any Error) -> String? {
        // A cancelled test's story was printed when it was cancelled.
        let tellsStory = (error as? NeverHappened)?.story.isEmpty == false || (error is CancellationError && Task.isCancelled)
        let story = tellsStory ? "" : story
        let findings = (failure(alive: false)?.findings ?? []).filter { $0.text != "\(error)" }
        if !findings.isEmpty {
            let besides = "besides, \(TestFailure(location: location, findings: findings, timeline: story))"
            return tellsStory ? besides : "\(error)\n\(besides)"
        }
        return story.isEmpty ? nil : "\(error)\nwhat happened in the harness made at \(location):\n\(story)"
    }

    // MARK: Other threads

    /// Waits a moment for other threads, and for tasks on the harness's executor, to release objects: what they release isn't a
    /// leak.
    func waitForLastOwners(alive: Bool) {
        let limit = LiveScheduler().now + .seconds(2)
        while mayLetGo(alive: alive), LiveScheduler().now < limit, !Task.isCancelled {
            _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(5))
            runExecutor()
        }
    }

    /// Waits in the same way without blocking the thread. Its time is that of the task pool, which the owners may be waiting for.
    func waitForLastOwners(alive: Bool, patience: Duration = .seconds(2)) async {
        let watchdog = Watchdog(patience: patience)
        defer { watchdog.callOff() }
        while mayLetGo(alive: alive), !watchdog.isOver, !Task.isCancelled {
            await Self.pause(.milliseconds(5))
            runExecutor()
        }
    }
}

func writeToStandardError(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
}
