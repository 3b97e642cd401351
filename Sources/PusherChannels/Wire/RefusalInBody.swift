/// A refusal in the body of a response whose status says success. soketi sends 200 with every body, because it writes the status
/// before it knows better: `{"error":"The app 1 could not be found.","code":404}`.
struct RefusalInBody: Equatable, CustomStringConvertible {
    /// The server's words.
    let words: String
    /// The status that the body names in place of the response's own; nil if it names none.
    let status: Int?

    /// Reads a body; nil if it isn't a refusal.
    ///
    /// - Parameter member: The member that a success may have; nil if a success may be anything. Then only soketi's own form is
    ///   a refusal.
    init?(_ json: JSONValue, insteadOf member: Name?) {
        guard case .object(let members) = json, let words = members["error"]?.stringValue else { return nil }
        self.words = words
        status = members["code"]?.integerValue.flatMap { (400..<600).contains($0) ? $0 : nil }
        if let member {
            guard members[member] ?? .null == .null else { return nil }
        } else {
            guard status != nil, members.count == 2 else { return nil }
        }
    }

    /// The refusal, to put after "answered with status 200 and".
    var description: String { "\(status.map { "error \($0)" } ?? "an error"): \"\(words.asQuotation)\"" }
}
