import PusherChannels

extension TestEnvironment {
    /// Creates the SDK's environment from these mocks.
    ///
    /// - Parameters:
    ///   - makeWebSocket: A closure that makes the socket of a connection, such as a ``MockWebSocket``.
    ///   - spawn: A closure that runs asynchronous user code; to run it step by step, pass
    ///     ``TestExecutor/spawn(_:)->Task<Void,Never>``.
    public func pusherEnvironment(
        makeWebSocket: @escaping @Sendable () -> any WebSocket,
        spawn: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never> = { body in Task { await body() } }
    ) -> PusherEnvironment {
        PusherEnvironment(
            scheduler: scheduler, httpSession: urlSession(), makeWebSocket: makeWebSocket, wallClock: now.function,
            randomSeed: randomSeed.function, jsonDecoder: jsonDecoder.function, jsonEncoder: jsonEncoder.function, spawn: spawn)
    }
}
