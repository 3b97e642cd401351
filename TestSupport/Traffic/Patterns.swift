import Foundation
import PusherChannels

/// Compares texts with patterns; each pattern is compiled once.
final class Patterns: Sendable {
    enum Outcome: Equatable {
        case matches
        case differs
        /// The pattern is invalid.
        case bad
        /// The pattern has so many ways to match that the search was given up.
        case tooCostly
    }

    /// The budget of one pattern for all its comparisons, in units of ten thousand steps that the engine counts. It takes about a
    /// fifth of a second, but doesn't depend on the clock.
    private static let budget = 500

    private struct Compiled {
        /// The compiled pattern; `nil` if the pattern is invalid.
        let expression: NSRegularExpression?
        var spent = 0
    }

    private let known = Locked<[String: Compiled]>([:])

    /// Matches a pattern against a whole text.
    func match(_ pattern: String, _ text: String) -> Outcome {
        let compiled = compile(pattern)
        guard let expression = compiled.expression else { return .bad }
        var outcome = Outcome.differs
        var spent = compiled.spent
        let range = NSRange(location: 0, length: text.utf16.count)
        expression.enumerateMatches(in: text, options: [.reportProgress, .anchored], range: range) { match, _, stop in
            if match != nil {
                outcome = .matches
            } else {
                spent += 1
                if spent > Self.budget { outcome = .tooCostly }
            }
            if outcome != .differs { stop.pointee = true }
        }
        if spent > compiled.spent { known.withLock { $0[pattern]?.spent = spent } }
        return outcome
    }

    /// Matches a file's text against a text: literally, as a pattern, or with any text in the places that were redacted.
    func matchPlain(_ expected: String, _ text: String) -> Outcome {
        if expected == text || expected == Redaction.marker { return .matches }
        let parts = expected.components(separatedBy: Redaction.marker)
        if parts.count > 1 {
            let pattern = parts.map { NSRegularExpression.escapedPattern(for: $0) }.joined(separator: "[\\s\\S]*")
            if match(pattern, text) == .matches { return .matches }
        }
        return match(parts.joined(separator: "[\\s\\S]*"), text)
    }

    /// Returns whether a text is a valid pattern.
    func isPattern(_ text: String) -> Bool { compile(text).expression != nil }

    private func compile(_ pattern: String) -> Compiled {
        known.withLock { known in
            if let compiled = known[pattern] { return compiled }
            let compiled = Compiled(expression: try? NSRegularExpression(matchingWhole: pattern))
            known[pattern] = compiled
            return compiled
        }
    }
}
