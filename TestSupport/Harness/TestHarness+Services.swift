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
    /// - Parameters:
    ///   - services: The services, in the order in which they start.
    ///   - isolation: The actor that the test runs on, by default the caller's.
    ///   - body: The test.
    /// - Throws: Any error from `body`; otherwise the error that ended the group.
    @discardableResult
    public func withServices<Result>(
        _ services: any Service..., isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        let group = ServiceGroup(services: services, logger: makeLogger("services"))
        let running = Task { try await group.run() }
        let result: Result
        do {
            result = try await body()
        } catch {
            await group.triggerGracefulShutdown()
            throw await Self.explained(error, by: end(of: running))
        }
        await group.triggerGracefulShutdown()
        try await end(of: running).get()
        return result
    }

    /// Adds a service's error to that of a wait, because it may be the reason why the condition never came true.
    private static func explained(_ error: any Error, by outcome: Result<Void, any Error>) -> any Error {
        guard var wait = error as? NeverHappened, case .failure(let cause) = outcome else { return error }
        wait.story = "a service failed: \(cause); \(wait.story)"
        return wait
    }

    /// Waits for a group to end. Until then, runs what is ready on the harness's executor if that runs no body, because nothing
    /// else does and the clients' work for ending may be on it.
    private func end(of running: Task<Void, any Error>) async -> Result<Void, any Error> {
        let others = Task {
            while !Task.isCancelled {
                runExecutor()
                await Self.pause(.milliseconds(2))
            }
        }
        let result = await running.result
        others.cancel()
        await others.value
        return result
    }
}
#endif
