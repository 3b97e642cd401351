import Foundation
import PusherChannels

/// A path with named parts, `/users/{id}`, which matches whole paths only; `/files/{path...}` names everything that follows.
struct PathTemplate: Sendable {
    private enum Segment {
        case literal(String)
        case parameter(String)
        /// One or more segments, up to the end.
        case rest(String)
    }

    private let segments: [Segment]

    init(_ text: String) {
        segments = text.split(separator: "/", omittingEmptySubsequences: false).map { part in
            guard part.count > 2, part.hasPrefix("{"), part.hasSuffix("}") else { return .literal(Self.decode(part.utf8)) }
            let name = part.dropFirst().dropLast()
            return name.hasSuffix("...") ? .rest(String(name.dropLast(3))) : .parameter(String(name))
        }
    }

    /// Returns the decoded texts of the named parts; `nil` if the path doesn't match.
    func parameters(of path: String) -> [String: String]? {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == segments.count || parts.count > segments.count && endsInRest else { return nil }
        var parameters: [String: String] = [:]
        for (segment, part) in zip(segments, parts) {
            switch segment {
            case .literal(let text): guard text.hasBytes(of: Self.decode(part)) else { return nil }
            case .parameter(let name):
                guard !part.isEmpty else { return nil }
                parameters[name] = Self.decode(part)
            case .rest(let name):
                let rest = path.utf8[part.startIndex...]
                guard !rest.isEmpty else { return nil }
                parameters[name] = Self.decode(rest)
            }
        }
        return parameters
    }

    /// Indicates whether a path begins with a prefix, both decoded. An encoded slash separates nothing.
    static func path(_ path: String, startsWith prefix: String) -> Bool {
        let (parts, expected) = (decodedParts(of: path), decodedParts(of: prefix))
        guard let last = expected.last, parts.count >= expected.count else { return false }
        return zip(parts, expected.dropLast()).allSatisfy { $0.hasBytes(of: $1) }
            && parts[expected.count - 1].utf8.starts(with: last.utf8)
    }

    private static func decodedParts(of path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(decode)
    }

    private var endsInRest: Bool {
        if case .rest? = segments.last { true } else { false }
    }

    private static func decode(_ part: Substring.UTF8View) -> String {
        Substring(part).removingPercentEncoding ?? String(Substring(part))
    }
}
