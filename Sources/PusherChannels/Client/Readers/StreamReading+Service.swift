// When a reading task is asked to shut down gracefully, its stream ends once everything that came by then was read.

#if ServiceLifecycle
import ServiceLifecycle

extension StreamReading {
    func finishIfShuttingDown() {
        if Task.isShuttingDownGracefully { finish() }
    }

    func endingGracefully<Result>(
        isolation actor: isolated (any Actor)? = #isolation, _ body: () async -> Result
    ) async -> Result {
        await withGracefulShutdownHandler(operation: body) { self.finish() }
    }
}
#else
extension StreamReading {
    func finishIfShuttingDown() {}

    @inline(__always)
    func endingGracefully<Result>(
        isolation actor: isolated (any Actor)? = #isolation, _ body: () async -> Result
    ) async -> Result {
        await body()
    }
}
#endif
