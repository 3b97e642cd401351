import ArgumentParser
import PusherChannels

/// A command's statuses besides 0, for success, and 64, for a command line that makes no sense.
enum Status {
    static let text = """
        Statuses: 0 when it is done; 1 when it failed, with the reason; 64 when the command line makes no sense; 75 when nothing was \
        done and a later attempt may succeed, because the server was not reached or asked for fewer requests.
        """

    static let temporary = ExitCode(75)

    /// Does the work of a command. If a later attempt may succeed, the command ends with its own status for that.
    static func of(_ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch let error as PusherError where error.mayGoBetterLater {
            note("Error: \(error)")
            throw temporary
        }
    }
}

extension PusherError {
    /// Indicates whether nothing was done, and a later attempt may succeed. False, too, if somebody has to change something
    /// first, such as a certificate that isn't trusted.
    fileprivate var mayGoBetterLater: Bool {
        isRetryable && (kind == .httpAPI(.unreachable) || kind == .httpAPI(.rateLimited))
    }
}
