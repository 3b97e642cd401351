#if ServiceLifecycle
import PusherChannels
import ServiceLifecycle

extension TestHarness {
    /// Runs services in a group during a test; when the test ends, shuts them down gracefully and waits for them.
    ///
    /// With the trait `ServiceLifecycle`. Clients are services, and so are the readers of their streams; the group shuts them
    /// down from the last to the first.
    ///
    /// ```swift
    /// try await harness.withServices(pusher, reader) {
    ///     try await harness.eventually { pusher.connection.connectionState == .connected }
    ///     harness.server.publish(channel: "news", event: "headline", data: "hello")
    /// }
    /// ```
    ///
    /// A service that has not ended after a minute of the harness's time is a failure of the test. If the test is cancelled, for
    /// example by its time limit, so is the group.
    ///
    /// - Parameters:
    ///   - services: The services, in the order in which they start.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    ///   - isolation: The actor that the test runs on, by default the caller's.
    ///   - body: The test.
    /// - Throws: Any error from `body`; otherwise the error that ended the group, or ``NeverHappened`` if a service did not end.
    @discardableResult
    public func withServices<Result>(
        _ services: any Service..., file: String = #fileID, line: Int = #line, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let last = LastService()
        let group = ServiceGroup(services: services + [last], logger: makeLogger("services"))
        let running = Task {
            defer { last.noteStart() }
            try await group.run()
        }
        let result: Result
        do {
            result = try await body()
        } catch {
            await waitForStart(of: last)
            await group.triggerGracefulShutdown()
            throw await Self.explained(error, by: end(of: running, file, line))
        }
        await waitForStart(of: last)
        await group.triggerGracefulShutdown()
        try await end(of: running, file, line).get()
        return result
    }

    /// Waits until a group runs, or has failed: before that, it can't be shut down.
    private func waitForStart(of last: LastService) async {
        let wait = LookWait(deadline: scheduler.now, patience: .seconds(5)) {
            await last.waitForStart()
            return true
        }
        _ = try? await look(wait)
    }

    /// Adds a service's error to that of a wait, because it may be the reason why the condition never came true.
    private static func explained(_ error: any Error, by outcome: Result<Void, any Error>) -> any Error {
        guard var wait = error as? NeverHappened, case .failure(let cause) = outcome, !(cause is NeverHappened) else {
            return error
        }
        wait.story = "a service failed: \(cause); \(wait.story)"
        return wait
    }

    /// Waits for a group that is shutting down. Its services may be waiting for a timer, or have work on the harness's executor.
    private func end(of running: Task<Void, any Error>, _ file: String, _ line: Int) async -> Result<Void, any Error> {
        let wait = LookWait(deadline: scheduler.now + .seconds(60), patience: .seconds(5)) {
            _ = await running.result
            return true
        }
        let failure: any Error
        do {
            if try await look(wait) != nil { return await running.result }
            failure = neverHappened(
                "every service ends", .seconds(60), file, line,
                others: "they were asked to shut down gracefully, which ends no sleep: `cancelWhenGracefulShutdown` does; ")
        } catch {
            failure = error
        }
        running.cancel()
        // In a task of its own, because this one may be cancelled.
        _ = try? await Task { try await look(wait) }.value
        return .failure(failure)
    }
}

/// The last service of a group: once it runs, the group does.
private final class LastService: Service {
    private let (started, start) = AsyncStream<Never>.makeStream()

    func noteStart() { start.finish() }

    func waitForStart() async { for await _ in started {} }

    func run() async throws {
        noteStart()
        try await gracefulShutdown()
    }
}
#endif
