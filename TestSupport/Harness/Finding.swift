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
        /// Something that nobody received: an event published to nobody, a message sent on a closed connection, or a delegate
        /// that was deallocated before it received anything.
        case unheard = "unheard"
        /// A method that resembles one of a delegate and is never called.
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

/// Returns the name of a place, such as `Tests.swift:12`.
func sourceLocation(_ file: String, _ line: Int) -> String {
    "\(file.split(separator: "/").last ?? ""):\(line)"
}
