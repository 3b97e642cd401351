import Foundation
import PusherChannels

/// Compares texts with patterns; each pattern is compiled once.
final class Patterns: Sendable {
    enum Outcome: Equatable {
        case matches
        case differs
        /// The pattern is none.
        case bad
        /// The pattern goes through so many possibilities that the search was given up.
        case tooCostly
    }

    /// In steps of ten thousand that the engine counts, for all that one pattern is compared with: a fifth of a second or so,
    /// whatever the clock says.
    private static let budget = 500

    private struct Compiled {
        /// `nil` where the pattern is none.
        let expression: NSRegularExpression?
        var spent = 0
    }

    private let known = Locked<[String: Compiled]>([:])

    /// Returns whether a pattern describes a text as a whole.
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

    /// Returns whether a file's text stands for a text: as itself, as a pattern, or with any text where it was redacted.
    func matchPlain(_ expected: String, _ text: String) -> Outcome {
        if expected == text || expected == Redaction.marker { return .matches }
        let parts = expected.components(separatedBy: Redaction.marker)
        if parts.count > 1 {
            let pattern = parts.map { NSRegularExpression.escapedPattern(for: $0) }.joined(separator: "[\\s\\S]*")
            if match(pattern, text) == .matches { return .matches }
        }
        return match(parts.joined(separator: "[\\s\\S]*"), text)
    }

    /// Returns whether a text is a pattern at all.
    func isPattern(_ text: String) -> Bool { compile(text).expression != nil }

    private func compile(_ pattern: String) -> Compiled {
        known.withLock { known in
            if let compiled = known[pattern] { return compiled }
            // Alone first: `a)(b` is a pattern only inside the parentheses that make it match the whole.
            let isValid = (try? NSRegularExpression(pattern: pattern)) != nil
            let whole = isValid ? try? NSRegularExpression(pattern: "\\A(?:\(pattern))\\z") : nil
            let compiled = Compiled(expression: whole)
            known[pattern] = compiled
            return compiled
        }
    }
}
