import PusherChannels

/// Traffic that is recorded anew over its file: what people wrote there stays, wherever it still describes the traffic.
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
            return merged(file[old].members, traffic[index].members, new: new)
        }
    }

    /// Returns an object whose members are the file's where they still fit; what the file leaves out stays out, unless that matters.
    private func merged(
        _ expected: [Name: JSONValue], _ got: [Name: JSONValue], new: [Name: JSONValue]
    ) -> [Name: JSONValue] {
        var members = comparison.isExact ? new : [:]
        for (name, expected) in expected {
            if let got = got[name] {
                members[name] = merged(expected, got)
            } else if case .absent = ValueMatcher.of(expected) {
                members[name] = expected
            }
        }
        return members
    }

    private func merged(_ expected: JSONValue, _ got: JSONValue) -> JSONValue {
        if comparison.differences(expected, got, at: "").isEmpty { return expected }
        let new = TrafficDocument.written(got)
        guard ValueMatcher.of(expected) == nil else { return new }
        switch (expected, got) {
        case (.object(let old), .object(let members)):
            return .object(merged(old, members, new: new.objectValue ?? [:]))
        case (.array(let old), .array(let elements)) where old.count == elements.count:
            return .array(zip(old, elements).map(merged))
        default:
            return new
        }
    }
}
