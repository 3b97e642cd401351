import PusherChannels

/// The problems that occurred where no error can be thrown. The mocks of one environment share one log.
final class IssueLog: Sendable {
    private let entries = Locked<[String]>([])

    func record(_ issue: String) {
        entries.withLock { $0.append(issue) }
    }

    var all: [String] { entries.withLock { $0 } }
}
