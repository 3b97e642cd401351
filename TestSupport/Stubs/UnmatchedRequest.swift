import Foundation

/// An error that a request fails with if nothing was stubbed for it.
public struct UnmatchedRequest: LocalizedError, Equatable, Sendable, CustomStringConvertible {
    /// The request.
    public let request: RecordedRequest
    /// The existing stubs and routes, the nearest first, each with its place and the reasons why it didn't respond.
    public let nearMisses: [String]

    /// The request and the nearest stubs, with the reasons why each didn't respond.
    public var description: String {
        guard !nearMisses.isEmpty else { return "nothing answers \(request): nothing is stubbed" }
        let lines = nearMisses.prefix(3).map { "\n  not \($0)" }
        let rest = nearMisses.count > 3 ? "\n  nor \(nearMisses.count - 3) more" : ""
        return "nothing answers \(request)\(lines.joined())\(rest)"
    }

    /// The ``description``, for code that shows `localizedDescription`.
    public var errorDescription: String? { description }
}
