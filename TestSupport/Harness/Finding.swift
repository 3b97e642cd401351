/// A problem that a test should learn of at its end.
public struct Finding: Equatable, Sendable, CustomStringConvertible {
    /// The kind of a finding.
    public enum Kind: String, Sendable, CaseIterable {
        /// A request that no stub responded to.
        case unmatchedRequest = "unmatched request"
        /// A stub that no request used.
        case unusedStub = "unused stub"
        /// A stub that was used although it must not be.
        case unexpectedCall = "unexpected call"
        /// A step of a script, a response of a sequence, or the connection for a fault that was never reached.
        case unplayedStep = "unplayed step"
        /// An event that doesn't match a script.
        case outOfStep = "out of step"
        /// A fault that the test double doesn't support.
        case unsupportedFault = "unsupported fault"
        /// A timer that is still pending.
        case pendingTimer = "pending timer"
        /// A socket that is still open.
        case openSocket = "open socket"
        /// An object that is still alive.
        case leak = "leak"
        /// Something that nobody received: an event published to nobody, a message sent, or an end, where there is no connection
        /// for it, or a delegate that was deallocated before it received anything.
        case unheard = "unheard"
        /// A method that resembles one of a delegate and that no client calls.
        case nearMiss = "near miss"
        /// A dependency that was used although the test didn't set it.
        case unimplemented = "unimplemented"
        /// An error that was recorded from any thread.
        case error = "error"
    }

    /// The kind of the finding.
    public let kind: Kind
    /// The description of the finding.
    public let text: String

    /// Creates a finding.
    public init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }

    /// The kind and the text, such as `unused stub: GET /users (Tests.swift:12)`.
    public var description: String { "\(kind.rawValue): \(text)" }
}

extension Finding {
    /// The finding that callbacks answer each other, so that the test would never end.
    static func endless(_ what: String, as example: String) -> Finding {
        Finding(
            .error,
            """
            \(what), and isn't answered any more: callbacks answer each other, such as \(example); let it wait, or stop after some
            """)
    }
}

/// An error that reports everything left over at a test's end.
public struct TestFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The place where the harness was made.
    public let location: String
    /// The findings.
    public let findings: [Finding]
    /// The events of the test until its end.
    public let timeline: String
    /// The error that ended the test; `nil` if the test ended by itself, or its framework has already reported the error.
    public internal(set) var cause: String?

    /// A line for each finding, and the timeline.
    public var description: String {
        if let cause { return "\(cause)\nbesides, \(ending)" }
        return ending
    }

    private var ending: String {
        if findings.isEmpty { return "what happened in the harness made at \(location):\n\(timeline)" }
        let lines = findings.map { "\n- \($0)" }.joined()
        let story = timeline.isEmpty ? "" : "\nwhat happened:\n\(timeline)"
        return
            "the harness made at \(location) ended with \(findings.count == 1 ? "1 finding" : "\(findings.count) findings"):\(lines)\(story)"
    }
}

/// Returns the name of a place, such as `Tests.swift:12`.
func sourceLocation(_ file: String, _ line: Int) -> String {
    "\(file.split(separator: "/").last ?? ""):\(line)"
}
