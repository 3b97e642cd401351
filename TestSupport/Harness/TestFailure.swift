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
