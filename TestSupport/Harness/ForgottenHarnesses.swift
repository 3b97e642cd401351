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

    private static let atEnd: Void = {
        atexit {
            for entry in state.withLock(\.entries) { entry.object?.sayIfForgotten() }
            #if canImport(Glibc)
            guard state.withLock(\.haveFindings) else { return }
            writeToStandardError("this run fails: nobody called verify() of a harness that found something, see above")
            // glibc continues with the other handlers and this status; elsewhere, the effect of a second `exit` is unspecified.
            exit(EXIT_FAILURE)
            #endif
        }
        return ()
    }()
}
