import Foundation

/// Nothing was stubbed for a request: the error it fails with.
public struct UnmatchedRequest: LocalizedError, Equatable, Sendable, CustomStringConvertible {
    /// The request.
    public let request: RecordedRequest
    /// The stubs and routes that there were, each with its place and the reasons why it didn't answer, the nearest first.
    public let nearMisses: [String]

    /// Names the request and the nearest stubs, with what kept each from answering.
    public var description: String {
        guard !nearMisses.isEmpty else { return "nothing answers \(request): nothing is stubbed" }
        let lines = nearMisses.prefix(3).map { "\n  not \($0)" }
        let rest = nearMisses.count > 3 ? "\n  nor \(nearMisses.count - 3) more" : ""
        return "nothing answers \(request)\(lines.joined())\(rest)"
    }

    /// The ``description``, for code that shows `localizedDescription`.
    public var errorDescription: String? { description }
}
