/// Checks a frame against the result of Foundation's JSON parser, except for the known ``JSONDifferences``.
func checkAgainstFoundation(_ frame: [UInt8], _ outcome: Result<ServerMessage, MalformedMessage>) {
    let differences = JSONDifferences(in: frame)
    // An event is an object around its members, each of which may be as deep as any document.
    let isTooDeep = differences.depth > JSONScanner.maximumDepth + 1
    if frame.contains(0) || isTooDeep || differences.isRefusedHere { return requireNoJSON(outcome) }
    // At this depth, the outcome depends on which member it is.
    guard differences.depth <= JSONScanner.maximumDepth else { return }
    let repaired = decode(differences.repaired)
    let expected = FoundationJSON.value(of: differences.repaired)
    require(complaint(repaired) == complaint(expected), "\(complaint(repaired)), by Foundation: \(complaint(expected))")
    if let envelope = envelope(repaired), let expected { check(envelope, expected) }
    // The differences themselves change nothing but texts and numbers.
    require(complaint(outcome) == complaint(repaired), "\(outcome), repaired \(repaired)")
    if differences.found.isEmpty { require(outcome == repaired, "\(outcome) and \(repaired) of the same") }
}

private func requireNoJSON(_ outcome: Result<ServerMessage, MalformedMessage>) {
    guard case .failure(.notJSON) = outcome else { return require(false, "\(outcome) is no JSON") }
}

/// A fault that a frame may have before its meaning matters.
private enum Complaint {
    case none, notJSON, notAnObject, missingEvent
}

private func complaint(_ value: JSONValue?) -> Complaint {
    guard let value else { return .notJSON }
    guard case .object(let members) = value else { return .notAnObject }
    return members["event"]?.stringValue == nil ? .missingEvent : .none
}

private func complaint(_ outcome: Result<ServerMessage, MalformedMessage>) -> Complaint {
    switch outcome {
    case .failure(.notJSON): .notJSON
    case .failure(.notAnObject): .notAnObject
    case .failure(.missingEvent): .missingEvent
    case .success, .failure(.incomplete), .failure(.unusableSocketID), .failure(.binary): .none
    }
}

private func envelope(_ outcome: Result<ServerMessage, MalformedMessage>) -> Envelope? {
    switch outcome {
    case .success(.event(let envelope)), .success(.control(_, let envelope)): envelope
    case .failure: nil
    }
}

/// Checks that the members are the ones that Foundation read.
private func check(_ envelope: Envelope, _ expected: JSONValue) {
    let members = expected.objectValue ?? [:]
    require(isSame(envelope.event.text, members["event"]?.stringValue), "event \(envelope.event), not \(expected)")
    require(
        isSame(envelope.channel?.text, members["channel"]?.stringValue),
        "channel \(envelope.channel?.text ?? "none"), not \(expected)")
    for (name, text) in [("data", envelope.data), ("user_id", envelope.userID)] {
        require(isPayload(text, members[name] ?? .null), "\(name) is \(text ?? "missing"), not \(expected)")
    }
    let extra = (envelope.extra ?? [:]).mapValues { JSONValue(ifJSON: $0) }
    let others = members.filter { !["event", "channel", "data", "user_id"].contains($0.key) }
    let isSameExtra =
        extra.count == others.count
        && others.allSatisfy { name, value in (extra[name] ?? nil).map { FoundationJSON.isSame($0, value) } ?? false }
    require(isSameExtra, "other members are \(envelope.extra ?? [:]), not \(others)")
}

private func isSame(_ left: String?, _ right: String?) -> Bool {
    left.map { Array($0.utf8) } == right.map { Array($0.utf8) }
}

/// Indicates whether the text is the value's payload: a string's content, the raw text of another value, or nothing for null.
private func isPayload(_ text: String?, _ value: JSONValue) -> Bool {
    switch value {
    case .null: text == nil
    case .string(let string): isSame(text, string)
    case .bool, .number, .array, .object:
        text.flatMap(JSONValue.init(ifJSON:)).map { FoundationJSON.isSame($0, value) } ?? false
    }
}
