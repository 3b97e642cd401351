import Dispatch
import Foundation
import PusherChannels

/// Catches SIGINT and SIGTERM from now on, and says so of the first, on a thread of the system's. A second one ends the process at once,
/// with the status of a shell for it: the end in good order, which the first begins, may take longer than somebody wants to wait.
func onInterruption(_ body: @escaping @Sendable (Int32) -> Void) {
    let isEnding = Locked(false)
    sources.withLock { sources in
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler {
                let wasEnding = isEnding.withLock { isEnding in
                    defer { isEnding = true }
                    return isEnding
                }
                if wasEnding { _exit(128 + number) }
                body(number)
            }
            source.resume()
            return source
        }
    }
}

/// What hears of the signals, until the process ends.
private let sources = Locked<[any DispatchSourceSignal]>([])
