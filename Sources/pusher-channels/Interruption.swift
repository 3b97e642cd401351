import Dispatch
import Foundation
import PusherChannels

/// Waits for SIGINT or SIGTERM. A second one ends the process at once, with the status of a shell for it: the end in good order, which
/// the first begins, may take longer than somebody wants to wait.
func interruption() async {
    let signals = AsyncStream<Void> { continuation in
        let isEnding = Locked(false)
        sources.withLock { sources in
            sources = [SIGINT, SIGTERM].map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number)
                source.setEventHandler {
                    if isEnding.withLock({ wasEnding in (wasEnding, wasEnding = true).0 }) { _exit(128 + number) }
                    continuation.yield()
                }
                source.resume()
                return source
            }
        }
    }
    for await _ in signals { return }
}

/// What hears of the signals, until the process ends.
private let sources = Locked<[any DispatchSourceSignal]>([])
