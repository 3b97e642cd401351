import Foundation

/// Nothing was stubbed for a request: the error it fails with.
public struct UnmatchedRequest: LocalizedError, Equatable, Sendable, CustomStringConvertible {
    /// A stub that did not answer.
    public struct NearMiss: Equatable, Sendable {
        /// The requests that the stub replies to, and the place where it was made.
        public let stub: String
        /// The reasons why it didn't reply.
        public let reasons: [String]
    }

    /// The request.
    public let request: RecordedRequest
    /// The stubs that there were, the nearest first.
    public let nearMisses: [NearMiss]

    /// Names the request and the nearest stubs, with what kept each from answering.
    public var description: String {
        guard !nearMisses.isEmpty else { return "nothing answers \(request): nothing is stubbed" }
        let lines = nearMisses.prefix(3).map { "\n  not \($0.stub): \($0.reasons.joined(separator: ", "))" }
        let rest = nearMisses.count > 3 ? "\n  nor \(nearMisses.count - 3) more" : ""
        return "nothing answers \(request)\(lines.joined())\(rest)"
    }

    /// The ``description``, for code that shows `localizedDescription`.
    public var errorDescription: String? { description }
}
