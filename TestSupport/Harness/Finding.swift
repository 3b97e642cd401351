/// Something that a test should hear of at its end.
public struct Finding: Equatable, Sendable, CustomStringConvertible {
    /// The sort of the finding.
    public enum Kind: String, Sendable, CaseIterable {
        /// A request that no stub answered.
        case unmatchedRequest = "unmatched request"
        /// A stub that no request asked.
        case unusedStub = "unused stub"
        /// A stub that was asked though it must not be.
        case unexpectedCall = "unexpected call"
        /// A step of a script, an answer of a sequence, or the connection that a fault is for, that was not reached.
        case unplayedStep = "unplayed step"
        /// Something that did not happen as a script has it.
        case outOfStep = "out of step"
        /// A fault that the double it was given to can't do.
        case unsupportedFault = "unsupported fault"
        /// A timer that still waits.
        case pendingTimer = "pending timer"
        /// A socket that is still open.
        case openSocket = "open socket"
        /// An object that still lives.
        case leak = "leak"
        /// Something that was said to nobody: an event published to nobody, a message sent on a connection that was closed, a delegate
        /// that went before it heard anything.
        case unheard = "unheard"
        /// A method that nearly is one of a delegate, and is never called.
        case nearMiss = "near miss"
        /// A dependency that was used though the test said nothing of it.
        case unimplemented = "unimplemented"
        /// An error that was recorded, from whatever thread.
        case error = "error"
    }

    /// The sort of the finding.
    public let kind: Kind
    /// The description of the finding.
    public let text: String

    /// Creates a finding.
    public init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }

    /// `unused stub: GET /users (Tests.swift:12)`
    public var description: String { "\(kind.rawValue): \(text)" }
}

/// `Tests.swift:12`
func sourceLocation(_ file: String, _ line: Int) -> String {
    "\(file.split(separator: "/").last ?? ""):\(line)"
}
