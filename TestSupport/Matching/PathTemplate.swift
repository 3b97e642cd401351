import Foundation

/// A path with names for parts of it, `/users/{id}`, which fits whole paths only.
struct PathTemplate: Sendable {
    private enum Segment {
        case literal(String)
        case parameter(String)
    }

    private let segments: [Segment]

    init(_ text: String) {
        segments = text.split(separator: "/", omittingEmptySubsequences: false).map { part in
            guard part.count > 2, part.hasPrefix("{"), part.hasSuffix("}") else { return .literal(Self.decode(part)) }
            return .parameter(String(part.dropFirst().dropLast()))
        }
    }

    /// Returns the texts that stand for the names, decoded; `nil` where the path doesn't fit.
    func parameters(of path: String) -> [String: String]? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (segment, part) in zip(segments, parts) {
            switch segment {
            case .literal(let text): guard text == Self.decode(part) else { return nil }
            case .parameter(let name):
                guard !part.isEmpty else { return nil }
                parameters[name] = Self.decode(part)
            }
        }
        return parameters
    }

    private static func decode(_ part: Substring) -> String {
        part.removingPercentEncoding ?? String(part)
    }
}
