import PusherChannels

extension TestEnvironment {
    /// The SDK's environment, made of these mocks.
    ///
    /// - Parameters:
    ///   - makeWebSocket: Makes the socket of a connection, such as a ``MockWebSocket``.
    ///   - spawn: Runs asynchronous user code; pass ``TestExecutor/spawn(_:)->Task<Void,Never>`` to step it.
    public func pusherEnvironment(
        makeWebSocket: @escaping @Sendable () -> any WebSocket,
        spawn: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never> = { body in Task { await body() } }
    ) -> PusherEnvironment {
        PusherEnvironment(
            scheduler: scheduler, httpSession: urlSession(), makeWebSocket: makeWebSocket, wallClock: now.function,
            randomSeed: randomSeed.function, jsonDecoder: jsonDecoder.function, jsonEncoder: jsonEncoder.function, spawn: spawn)
    }
}
