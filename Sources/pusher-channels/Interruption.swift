import Dispatch
import Foundation
import PusherChannels

/// Waits for SIGINT or SIGTERM.
func interruption() async {
    let signals = AsyncStream<Void> { continuation in
        let sources = Locked(
            [SIGINT, SIGTERM].map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number)
                source.setEventHandler { continuation.yield() }
                source.resume()
                return source
            })
        continuation.onTermination = { _ in sources.withLock { $0.forEach { $0.cancel() } } }
    }
    for await _ in signals { return }
}
