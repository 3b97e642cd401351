/// Plays a made-up history: the machine's configuration, and the actions of the user, the server, the network and the authorizer.
///
/// At the end, all of them behave as they should, and the client must reach the state that its user wants.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    var input = FuzzInput(data, size)
    var world = World(ConnectionMachine.Configuration(choices: input.choice(), input.choice()))
    while !input.rest.isEmpty { world.step(&input) }
    world.settle()
    return 0
}

extension ConnectionMachine.Configuration {
    /// Creates a configuration with a bit for each setting that changes the course. Small limits are reached soon.
    fileprivate init(choices: Int, _ more: Int) {
        self.init()
        secure = choices & 1 == 0
        upgradesToTLS = choices & 2 == 0
        autoReconnect = choices & 4 == 0
        concurrentAuthorizations = choices & 8 == 0 ? 16 : 1
        unsentEventLimit = choices & 16 == 0 ? 100 : 2
        encryptedEventLimit = choices & 32 == 0 ? 100 : 1
        if choices & 64 != 0 { limits = .unchecked }
        if choices & 128 != 0 { limits.clientEventsPerSecond = 2 }
        if more & 1 != 0 { reconnectPolicy.maximumRetries = 2 }
        if more & 2 != 0 { reconnectPolicy.initialDelay = .zero }
        if more & 4 != 0 { subscriptionRetry = ExponentialDelay(initial: .zero, maximum: .zero) }
    }
}
