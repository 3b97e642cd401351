import Dispatch
import Foundation
import PusherChannels

/// Catches SIGINT, SIGTERM and SIGHUP from now on, and reports the first one on a system thread. A SIGHUP that nohup has the program
/// ignore stays ignored.
///
/// A second one ends the process at once, with a shell's status for it, because the orderly end that the first one begins may
/// take longer than somebody wants to wait.
func onInterruption(_ body: @escaping @Sendable (Int32) -> Void) {
    let isEnding = Locked(false)
    let registrations = DispatchGroup()
    let outlivesTerminal = unsafeBitCast(signal(SIGHUP, SIG_IGN), to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    sources.withLock { sources in
        sources = ([SIGINT, SIGTERM] + (outlivesTerminal ? [] : [SIGHUP])).map { number in
            #if canImport(Darwin)
            // On Darwin, a source only observes the signal; on Linux, it replaces the signal's action.
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
    // The sources are registered on another thread, which a busy machine may not run before somebody who has read the first line
    // sends a signal. If there can't be a thread, the program goes on without them.
    _ = registrations.wait(timeout: .now() + .seconds(10))
}

/// The sources of signals, kept until the process ends.
private let sources = Locked<[any DispatchSourceSignal]>([])
