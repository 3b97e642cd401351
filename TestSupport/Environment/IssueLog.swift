import PusherChannels

/// The problems that showed where no error can be thrown; the mocks of one environment share one.
final class IssueLog: Sendable {
    private let entries = Locked<[String]>([])

    func record(_ issue: String) {
        entries.withLock { $0.append(issue) }
    }

    var all: [String] { entries.withLock { $0 } }
}
