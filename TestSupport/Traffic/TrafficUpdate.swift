import PusherChannels

/// Traffic that is recorded again over its file. Whatever people wrote into the file stays if it still describes the traffic.
struct TrafficUpdate {
    let file: [TrafficEntry]
    let traffic: [TrafficEntry]
    let comparison: Comparison

    /// Returns the members of the entries to write, in the traffic's order.
    func members(headers: Set<String>) -> [[Name: JSONValue]] {
        let differences = Differences(file: file, traffic: traffic, comparison: comparison)
        let fitting = differences.fitting(inOrder: false)
        let left = file.indices.filter { fitting[$0] == nil }
        let pairs = differences.changed(left, Differences.remaining(Array(traffic.indices), fitting))
        let kept = Dictionary(uniqueKeysWithValues: fitting.map { ($1, $0) })
        let changed = Dictionary(uniqueKeysWithValues: pairs.map { ($1, $0) })
        return traffic.indices.map { index in
            if let old = kept[index] { return file[old].members }
            let new = TrafficDocument.members(of: traffic[index], headers: headers)
            guard let old = changed[index] else { return new }
            return merged(file[old], traffic[index], new: new)
        }
    }

    private func merged(_ old: TrafficEntry, _ got: TrafficEntry, new: [Name: JSONValue]) -> [Name: JSONValue] {
        var members = merged(old.members, got.members, new: new)
        guard !old.isFrame else { return members }
        for name in Differences.optional.map({ Name($0) }) where old.members[name] == nil { members[name] = nil }
        for name in Differences.absentWhereEmpty where got.members[name] == [:] && Differences.isAbsent(old.members[name]) {
            members[name] = old.members[name]
        }
        members["headers"] = old.members["headers"].flatMap { headers($0, got.members["headers"]) }
        return members
    }

    /// Returns header fields, with their names as the file spells them. None is added, because an HTTP client has some of its
    /// own.
    private func headers(_ expected: JSONValue, _ got: JSONValue?) -> JSONValue? {
        guard ValueMatcher.of(expected) == nil, case .object(let fields) = expected else { return member(expected, got) }
        let kept = fields.compactMap { name, value in member(value, got?[name.text.lowercased()]).map { (name.text, $0) } }
        return kept.isEmpty ? nil : JSONValue(members: kept)
    }

    /// Returns an object with the file's members where they still match. Members that the file leaves out stay out, unless the
    /// comparison is exact.
    private func merged(
        _ expected: [Name: JSONValue], _ got: [Name: JSONValue], new: [Name: JSONValue]
    ) -> [Name: JSONValue] {
        var members = comparison.isExact ? new : [:]
        for (name, expected) in expected {
            if let member = member(expected, got[name], name) { members[name] = member }
        }
        return members
    }

    /// Returns a member for a value that the traffic has. If it has none, returns `nil`, unless the file says that there is none.
    private func member(_ expected: JSONValue, _ got: JSONValue?, _ name: Name? = nil) -> JSONValue? {
        got.map { merged(expected, $0, name) } ?? (Differences.isAbsent(expected) ? expected : nil)
    }

    private func merged(_ expected: JSONValue, _ got: JSONValue, _ name: Name? = nil) -> JSONValue {
        if comparison.differences(expected, got, at: "").isEmpty { return expected }
        let new = TrafficDocument.written(got, of: name)
        guard ValueMatcher.of(expected) == nil else { return new }
        switch (expected, got) {
        case (.object(let old), .object(let members)):
            return .object(merged(old, members, new: new.objectValue ?? [:]))
        case (.array(let old), .array(let elements)) where old.count == elements.count:
            return .array(zip(old, elements).map { merged($0, $1) })
        default:
            return new
        }
    }
}
