import Foundation
import PusherChannels

/// The harnesses that live when the process ends: XCTest keeps test cases, and with them their harnesses, to the end.
///
/// The one thing that harnesses share: none can see another's, and it is only looked at when all tests have ended.
enum ForgottenHarnesses {
    private static let entries = Locked<[Weak<TestHarness>]>([])

    /// Looks at a harness again at the end of the process.
    static func watch(_ harness: TestHarness) {
        _ = atEnd
        entries.letGo { entries in
            defer { entries.append(Weak(harness)) }
            // Those that have gone have spoken for themselves.
            return entries.count.isMultiple(of: 256) ? entries.removeGone() : []
        }
    }

    private static let atEnd: Void = {
        atexit {
            for entry in ForgottenHarnesses.entries.withLock({ $0 }) { entry.object?.sayIfForgotten() }
        }
        return ()
    }()
}
