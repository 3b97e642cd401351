#if ServiceLifecycle
import PusherChannels
import ServiceLifecycle

extension TestHarness {
    /// Runs services in a group beside a test; when the test ends, they are asked to shut down gracefully and waited for.
    ///
    /// With the trait `ServiceLifecycle`. Clients are services, and so is what reads their streams; the group asks them to end from the
    /// last to the first.
    ///
    /// ```swift
    /// try await harness.withServices(pusher, reader) {
    ///     try await harness.eventually { pusher.connection.connectionState == .connected }
    ///     harness.server.publish(channel: "news", event: "headline", data: "hello")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - services: The services, in the order in which they begin.
    ///   - isolation: The actor that the test runs on, by default the caller's.
    ///   - body: The test.
    /// - Throws: what `body` throws, otherwise what ended the group.
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
            _ = await running.result
            throw error
        }
        await group.triggerGracefulShutdown()
        try await running.value
        return result
    }
}
#endif
