import Dispatch
import Foundation
import PusherChannels

/// Catches SIGINT and SIGTERM from now on, and says so of the first, on a thread of the system's. A second one ends the process at once,
/// with the status of a shell for it: the end in good order, which the first begins, may take longer than somebody wants to wait.
func onInterruption(_ body: @escaping @Sendable (Int32) -> Void) {
    let isEnding = Locked(false)
    let registrations = DispatchGroup()
    sources.withLock { sources in
        sources = [SIGINT, SIGTERM].map { number in
            #if canImport(Darwin)
            // There a source only watches what becomes of the signal; on Linux it takes the place of what would.
            signal(number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler {
                let wasEnding = isEnding.withLock { isEnding in
                    defer { isEnding = true }
                    return isEnding
                }
                if wasEnding { _exit(128 + number) }
                body(number)
            }
            registrations.enter()
            source.setRegistrationHandler { registrations.leave() }
            source.resume()
            return source
        }
    }
    // On another thread, which a busy machine may let wait until somebody who read the first line sends a signal. Where no thread can be
    // had, the program goes on without.
    _ = registrations.wait(timeout: .now() + .seconds(10))
}

/// The sources of signals, kept until the process ends.
private let sources = Locked<[any DispatchSourceSignal]>([])
