import Foundation
import PusherChannels

extension TestHarness {
    /// Checks that nothing is left over; what a test still holds is no leak. A socket that is still open has a moment of real time to be
    /// let go of by another thread, such as one that is calling a delegate.
    ///
    /// - Throws: ``TestFailure`` with everything that was found.
    public func verify() throws(TestFailure) {
        waitForLastOwners(alive: false)
        try verify(alive: false)
    }

    /// Checks that nothing is left over, and tells what happened in a test that has failed, as XCTest's `testRun?.totalFailureCount` says.
    ///
    /// - Throws: ``TestFailure``; of a test that has failed also where nothing was found.
    public func verify(hasFailed: Bool) throws(TestFailure) {
        try verify()
        let story = story
        if hasFailed, !story.isEmpty { throw TestFailure(location: location, findings: [], timeline: story) }
    }

    /// The test's own error comes first; what it doesn't tell stands on standard error.
    func ended(with error: any Error) -> any Error {
        if let text = untold(by: error) { writeToStandardError(text) }
        try? verify(alive: false)
        return error
    }

    /// Says where a test was that is cancelled, as by a time limit: one that waits for what can't be cancelled, such as the value of a task,
    /// goes on waiting, and no error of it is ever seen.
    func tellOfCancellation() { writeToStandardError(standing) }

    /// A report of a test that doesn't end.
    var standing: String {
        """
        the test with the harness made at \(location) was cancelled; virtual time is \(scheduler.now), scheduled: \
        \(scheduler.pendingTimers.names); what happened:
        \(story)
        """
    }

    /// Returns what was found beside a test's own error, and what happened; nothing twice where the error tells of that itself.
    func untold(by error: any Error) -> String? {
        // A cancelled test's story was told as it was cancelled.
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

    /// Waits a moment for other threads, and for tasks on the harness's executor, to let go: what they let go of is no leak.
    func waitForLastOwners(alive: Bool) {
        let limit = lastOwnersLimit
        while lastOwnersMayLetGo(by: limit, alive) {
            _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(5))
            runExecutor()
        }
    }

    /// Does so without holding up its thread.
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
