import Foundation
import PusherChannels

/// The harnesses that nobody asked for their findings. Some are still alive when the process ends: XCTest keeps test cases, and
/// their harnesses with them, until then.
///
/// This is the only thing that harnesses share. No harness can see another's entry, and findings are only read after all tests
/// have ended.
enum ForgottenHarnesses {
    private struct State {
        var entries: [Weak<TestHarness>] = []
        var haveFindings = false
        /// Indicates whether a harness was used after its test.
        var isLate = false
    }

    private static let state = Locked(State())

    /// Checks a harness again at the end of the process.
    static func watch(_ harness: TestHarness) {
        _ = atEnd
        state.release { state in
            defer { state.entries.append(Weak(harness)) }
            // Deallocated harnesses have already reported their findings.
            return state.entries.count.isMultiple(of: 256) ? state.entries.removeGone() : []
        }
    }

    /// Prints what was found and makes the process fail at its end. No test framework can report it, because the test has already
    /// passed.
    static func tell(_ failure: TestFailure) {
        writeToStandardError("\(failure)\n(nobody called verify())")
        state.withLock { $0.haveFindings = true }
    }

    /// Prints what happened after a test's end and makes the process fail at its end.
    static func tell(_ late: String) {
        _ = atEnd
        writeToStandardError(late)
        state.withLock { $0.isLate = true }
    }

    private static let atEnd: Void = {
        atexit {
            for entry in state.withLock(\.entries) { entry.object?.sayIfForgotten() }
            #if canImport(Glibc)
            let (haveFindings, isLate) = state.withLock { ($0.haveFindings, $0.isLate) }
            guard haveFindings || isLate else { return }
            let reason =
                haveFindings ? "nobody called verify() of a harness that found something" : "a harness was used after its end"
            writeToStandardError("this run fails: \(reason), see above")
            // glibc continues with the other handlers and this status; elsewhere, the effect of a second `exit` is unspecified.
            exit(EXIT_FAILURE)
            #endif
        }
        return ()
    }()
}
