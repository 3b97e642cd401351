import PusherChannels

/// Finds the differences between a file and the traffic. Matching entries are put aside; each of the others is reported with the
/// entry that is most like it.
struct Differences {
    let file: [TrafficEntry]
    let traffic: [TrafficEntry]
    let comparison: Comparison

    func find(inOrder: Bool) -> [TrafficMismatch.Difference] {
        let fitting = fitting(inOrder: inOrder)
        var missing = file.indices.filter { fitting[$0] == nil }
        var unexpected = Self.remaining(Array(traffic.indices), fitting)

        let moved = Pairing.nearest(missing, unexpected) { fields($0, $1).isEmpty ? abs($0 - $1) : nil }
        missing.removeAll { moved[$0] != nil }
        unexpected = Self.remaining(unexpected, moved)

        let alike = alike(missing, unexpected)
        unexpected = Self.remaining(unexpected, alike)

        let ofFile: [TrafficMismatch.Difference] = file.indices.filter { fitting[$0] == nil }.map { index in
            let entry = file[index].description
            if let other = moved[index] { return .moved(position: index + 1, entry: entry, came: other + 1) }
            if let other = alike[index] {
                return .mismatched(position: index + 1, entry: entry, fields: fields(index, other))
            }
            return .missing(position: index + 1, entry: entry + note(on: file[index]))
        }
        return ofFile + unexpected.map { .unexpected(position: $0 + 1, entry: traffic[$0].description) }
    }

    /// Returns the file's entries that the traffic has, each with its position there.
    func fitting(inOrder: Bool) -> [Int: Int] {
        (inOrder ? Pairing.longest : Pairing.largest)(file.count, traffic.count) { fields($0, $1).isEmpty }
    }

    /// Returns the file's entries that look like a mistaken form of an entry in the traffic, with that entry's position.
    func alike(_ ofFile: [Int], _ ofTraffic: [Int]) -> [Int: Int] {
        Pairing.nearest(ofFile, ofTraffic, distance)
    }

    /// Returns the file's entries that are about the same thing as an entry in the traffic but say something else, with that
    /// entry's position.
    func changed(_ ofFile: [Int], _ ofTraffic: [Int]) -> [Int: Int] {
        Pairing.nearest(ofFile, ofTraffic) { left, right in
            distance(left, right).flatMap { $0 < Self.ofAnotherThing ? $0 : nil }
        }
    }

    /// Returns the likely reason why an entry is missing: its URL was meant as a pattern, but isn't a valid one.
    private func note(on entry: TrafficEntry) -> String {
        guard let url = entry.members["url"]?.stringValue, !comparison.patterns.isPattern(url) else { return "" }
        return "\n  (its url can't be used as a pattern, so it stands for itself only)"
    }

    static func remaining(_ indices: [Int], _ pairs: [Int: Int]) -> [Int] {
        let taken = Set(pairs.values)
        return indices.filter { !taken.contains($0) }
    }

    // MARK: Comparing entries

    /// The members that a file may leave out.
    static let optional: Set<String> = ["method", "headers", "status"]

    private func fields(_ left: Int, _ right: Int) -> [TrafficMismatch.Field] {
        let (expected, got) = (file[left].members, traffic[right].members)
        var (expectedRest, gotRest) = (expected, got)
        (expectedRest["headers"], gotRest["headers"]) = (nil, nil)
        for name in Self.absentWhereEmpty where got[name] == [:] && Self.isAbsent(expected[name]) { gotRest[name] = nil }
        // A pattern must keep its case, because `\d` and `\D` are different.
        if let method = expected["method"]?.stringValue, method.allSatisfy(\.isLetter) {
            expectedRest["method"] = .string(method.uppercased())
        }
        let fields = comparison.differences(members: expectedRest, gotRest, at: "", optional: Self.optional)
        guard let headers = expected["headers"] else { return fields }
        // An HTTP client adds header fields of its own.
        let lenient = Comparison(isExact: false, patterns: comparison.patterns)
        return fields + lenient.differences(Self.lowercased(headers), got["headers"] ?? [:], at: "headers")
    }

    /// The members for which an empty object means "none". A file may leave them out, or say that they are absent.
    static let absentWhereEmpty: [Name] = ["parameters", "body"]

    static func isAbsent(_ expected: JSONValue?) -> Bool {
        guard let expected else { return true }
        if case .absent = ValueMatcher.of(expected) { return true }
        return false
    }

    private static func lowercased(_ headers: JSONValue) -> JSONValue {
        guard ValueMatcher.of(headers) == nil, case .object(let members) = headers else { return headers }
        return JSONValue(members: members.map { ($0.text.lowercased(), $1) })
    }

    /// The fields that identify an entry, as opposed to its content.
    private static let identity: Set<String> = ["url", "method", "status", "frame", "event"]

    private static let ofAnotherThing = 1_000

    /// Returns the distance between two entries; `nil` if one isn't a mistaken form of the other.
    private func distance(_ left: Int, _ right: Int) -> Int? {
        guard file[left].isFrame == traffic[right].isFrame else { return nil }
        let fields = fields(left, right)
        let isSameThing = !fields.contains { $0.path != "status" && Self.identity.contains($0.path) }
        let size = Self.leafCount(.object(file[left].members.filter { !Self.identity.contains($0.key.text) }))
        let saysTheSame = size > 0 && fields.count { !Self.identity.contains($0.path) } * 2 <= size
        let isSameEvent = file[left].event != nil && !fields.contains { $0.path == "event" }
        let isAlike = Self.areAlike(
            LocalAddress.normalize(file[left].url), LocalAddress.normalize(traffic[right].members["url"]?.stringValue ?? ""))
        guard isSameThing || saysTheSame || isSameEvent || isAlike else { return nil }
        return fields.count + (isSameThing ? 0 : Self.ofAnotherThing)
    }

    /// Returns whether two addresses have three quarters of their bytes in common, at the beginning and the end.
    private static func areAlike(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        let start = zip(left, right).prefix { $0 == $1 }.count
        let end = zip(left.dropFirst(start).reversed(), right.dropFirst(start).reversed()).prefix { $0 == $1 }.count
        return (start + end) * 4 >= max(left.count, right.count) * 3 && start > 0
    }

    private static func leafCount(_ value: JSONValue) -> Int {
        switch value {
        case .array(let elements): elements.reduce(0) { $0 + leafCount($1) }
        case .object(let members): members.values.reduce(0) { $0 + leafCount($1) }
        case .null, .bool, .number, .string: 1
        }
    }
}
