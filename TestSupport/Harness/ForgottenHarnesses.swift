import Foundation
import PusherChannels

/// The harnesses that nobody asked for their findings. Some live when the process ends: XCTest keeps test cases, and with them their
/// harnesses, to the end.
///
/// The one thing that harnesses share: none can see another's, and it is only looked at when all tests have ended.
enum ForgottenHarnesses {
    private struct State {
        var entries: [Weak<TestHarness>] = []
        var haveFindings = false
    }

    private static let state = Locked(State())

    /// Looks at a harness again at the end of the process.
    static func watch(_ harness: TestHarness) {
        _ = atEnd
        state.letGo { state in
            defer { state.entries.append(Weak(harness)) }
            // Those that have gone have spoken for themselves.
            return state.entries.count.isMultiple(of: 256) ? state.entries.removeGone() : []
        }
    }

    /// Says what was found, and has the process fail at its end: no framework hears of it, as the test has passed by now.
    static func tell(_ failure: TestFailure) {
        writeToStandardError("\(failure)\n(nobody called verify())")
        state.withLock { $0.haveFindings = true }
    }

    private static let atEnd: Void = {
        atexit {
            for entry in state.withLock(\.entries) { entry.object?.sayIfForgotten() }
            #if canImport(Glibc)
            guard state.withLock(\.haveFindings) else { return }
            writeToStandardError("this run fails: nobody called verify() of a harness that found something, see above")
            // glibc goes on with the other handlers, with this status; elsewhere nobody says what a second `exit` does.
            exit(EXIT_FAILURE)
            #endif
        }
        return ()
    }()
}
