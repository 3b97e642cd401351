import Foundation
import PusherChannels

extension TestHarness {
    /// Checks that nothing is left over; objects that the test still holds aren't leaks. Another thread has a moment of real time
    /// to release an open socket, such as a thread that is calling a delegate.
    ///
    /// - Throws: ``TestFailure`` with all findings.
    public func verify() throws(TestFailure) {
        waitForLastOwners(alive: false)
        try verify(alive: false)
    }

    /// Checks that nothing is left over, and reports the events of a test that has failed, according to XCTest's
    /// `testRun?.totalFailureCount` for example.
    ///
    /// - Throws: ``TestFailure`` if anything was found, or if the test has failed and its timeline isn't empty.
    public func verify(hasFailed: Bool) throws(TestFailure) {
        try verify()
        let story = story
        if hasFailed, !story.isEmpty { throw TestFailure(location: location, findings: [], timeline: story) }
    }

    /// Returns the test's own error, and prints to standard error what it doesn't report.
    func ended(with error: any Error) -> any Error {
        if let text = untold(by: error) { writeToStandardError(text) }
        try? verify(alive: false)
        return error
    }

    /// Prints where a test was when it was cancelled, such as by a time limit. If the test is waiting for something that can't be
    /// cancelled, such as the value of a task, it continues to wait and its error is never seen.
    func tellOfCancellation() { writeToStandardError(standing) }

    /// A report of a test that doesn't end.
    var standing: String {
        """
        the test with the harness made at \(location) was cancelled; virtual time is \(scheduler.now), scheduled: \
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
        let limit = lastOwnersLimit
        while lastOwnersMayLetGo(by: limit, alive) {
            _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(5))
            runExecutor()
        }
    }

    /// Waits in the same way without blocking the thread.
    func waitForLastOwners(alive: Bool) async {
        let limit = lastOwnersLimit
        while lastOwnersMayLetGo(by: limit, alive) {
            await Self.pause(.milliseconds(5))
            runExecutor()
        }
    }

    private var lastOwnersLimit: Instant { LiveScheduler().now + .seconds(2) }

    private func lastOwnersMayLetGo(by limit: Instant, _ alive: Bool) -> Bool {
        mayLetGo(alive: alive) && LiveScheduler().now < limit && !Task.isCancelled
    }
}

func writeToStandardError(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
}
