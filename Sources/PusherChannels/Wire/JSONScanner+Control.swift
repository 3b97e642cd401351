/// Readers of the protocol's own events, which work in place. If several members have the same name, the last one counts, as in
/// ``JSONValue``.
extension JSONScanner {
    /// Returns whether a token is this text once its escapes are resolved.
    @inline(__always)
    func isText(_ token: StringToken, _ text: StaticString) -> Bool {
        if token.hasEscapes { return isEscapedText(token, text) }
        // Usually the lengths differ already.
        return token.end - token.start == text.utf8CodeUnitCount
            && UnsafeRawBufferPointer(rebasing: bytes[token.start..<token.end]).isSame(as: text)
    }

    private func isEscapedText(_ token: StringToken, _ text: StaticString) -> Bool {
        // An escape takes at most six bytes for one.
        token.end - token.start <= 6 * text.utf8CodeUnitCount && Name(string(token)).equals(text)
    }

    /// Reads an event's data. Of an object, `body` reads the members, skipping the values of those it knows. Returns data that is
    /// a string.
    mutating func scanData(
        _ body: (_ key: StringToken, _ scanner: inout JSONScanner) throws(JSONError) -> Bool
    ) throws(JSONError) -> String? {
        var text: String?
        skipWhitespace()
        switch current {
        case UInt8(ascii: "\""): text = string(try scanString())
        default: try scanObject(depth: 0, body)
        }
        try expectEnd()
        return text
    }

    /// Reads an object's members; skips any other value, and the values of members that `body` doesn't know.
    @inline(__always)
    private mutating func scanObject(
        depth: Int, _ body: (_ key: StringToken, _ scanner: inout JSONScanner) throws(JSONError) -> Bool
    ) throws(JSONError) {
        guard current == UInt8(ascii: "{"), depth < Self.maximumDepth else { return try skipValue(depth: depth) }
        try scanMembers { (key, scanner) throws(JSONError) in
            if try !body(key, &scanner) { try scanner.skipValue(depth: depth + 1) }
        }
    }

    // MARK: Single values

    /// Reads a string; returns nil for any other value.
    mutating func scanText(depth: Int) throws(JSONError) -> String? {
        if current == UInt8(ascii: "\"") { return string(try scanString()) }
        try skipValue(depth: depth)
        return nil
    }

    /// Reads a string as a name; returns nil for any other value.
    mutating func scanName(depth: Int) throws(JSONError) -> Name? {
        if current == UInt8(ascii: "\"") { return name(try scanString()) }
        try skipValue(depth: depth)
        return nil
    }

    /// Reads an identifier: a string, or the text of a number, with every digit as it was written.
    mutating func scanIdentifier(depth: Int) throws(JSONError) -> Name? {
        try scanIdentifierToken(depth: depth).map { name($0) }
    }

    /// Reads a list of identifiers, leaving out other values.
    mutating func scanIdentifiers(depth: Int) throws(JSONError) -> [String] {
        var texts: [String] = []
        try forEachElement(depth: depth) { scanner throws(JSONError) in
            if let token = try scanner.scanIdentifierToken(depth: depth + 1) { texts.append(scanner.string(token)) }
        }
        return texts
    }

    private mutating func scanIdentifierToken(depth: Int) throws(JSONError) -> StringToken? {
        switch current {
        case UInt8(ascii: "\""): return try scanString()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let range = try scanNumber()
            return StringToken(start: range.lowerBound, end: range.upperBound, hasEscapes: false)
        default:
            try skipValue(depth: depth)
            return nil
        }
    }

    /// Reads an integer, or a string that holds one: not every server distinguishes the two.
    mutating func scanInteger(depth: Int) throws(JSONError) -> Int? {
        switch current {
        case UInt8(ascii: "\""):
            return Int(string(try scanString()))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return JSONNumber(wellFormed: text(try scanNumber())).integer
        default:
            try skipValue(depth: depth)
            return nil
        }
    }

    /// Reads a value as raw text; returns nil for null.
    mutating func scanUnlessNull(depth: Int) throws(JSONError) -> JSONText? {
        let start = position
        let isNull = current == UInt8(ascii: "n")
        try skipValue(depth: depth)
        return isNull ? nil : JSONText(wellFormed: text(start..<position))
    }

    // MARK: Members

    /// Calls `body` at the elements of an array; skips any other value.
    @inline(__always)
    private mutating func forEachElement(
        depth: Int, _ body: (_ scanner: inout JSONScanner) throws(JSONError) -> Void
    ) throws(JSONError) {
        guard current == UInt8(ascii: "["), depth < Self.maximumDepth else { return try skipValue(depth: depth) }
        try scanElements(body)
    }

    /// Reads the members: those in `ids` and the keys of `hash`. pusher-fake leaves `ids` out, and Reverb sends an empty hash as
    /// `[]`.
    mutating func scanPresence(depth: Int) throws(JSONError) -> PresenceSnapshot {
        var ids = MemberList()
        var hash: [PresenceMember] = []
        try scanObject(depth: depth) { (key, scanner) throws(JSONError) in
            if scanner.isText(key, "ids") {
                ids = try scanner.scanIDs(depth: depth + 1)
            } else if scanner.isText(key, "hash") {
                hash = try scanner.scanHash(depth: depth + 1)
            } else {
                return false
            }
            return true
        }
        for member in hash { ids.update(member) }
        return PresenceSnapshot(list: ids)
    }

    private mutating func scanIDs(depth: Int) throws(JSONError) -> MemberList {
        var list = MemberList()
        var tokens: [(StringToken, digest: Int)] = []
        try forEachElement(depth: depth) { scanner throws(JSONError) in
            guard let token = try scanner.scanIdentifierToken(depth: depth + 1) else { return }
            tokens.append((token, token.hasEscapes ? 0 : Name.digest(of: scanner.content(of: token))))
            // In batches: while one look-up waits for memory, the next can begin.
            if tokens.count == 256 { scanner.add(&tokens, to: &list) }
        }
        add(&tokens, to: &list)
        return list
    }

    private func add(_ tokens: inout [(StringToken, digest: Int)], to list: inout MemberList) {
        for (token, digest) in tokens {
            if token.hasEscapes {
                list.insert(name(token))
            } else {
                list.insert(content(of: token), digest: digest)
            }
        }
        tokens.removeAll(keepingCapacity: true)
    }

    /// Returns the raw bytes of a string.
    private func content(of token: StringToken) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[token.start..<token.end])
    }

    private mutating func scanHash(depth: Int) throws(JSONError) -> [PresenceMember] {
        var members: [PresenceMember] = []
        try scanObject(depth: depth) { (key, scanner) throws(JSONError) in
            members.append(PresenceMember(userID: scanner.name(key), info: try scanner.scanUnlessNull(depth: depth + 1)))
            return true
        }
        return members
    }

    // MARK: Users

    /// Reads the user's data: JSON in a string, or the value itself.
    mutating func scanUserData(depth: Int) throws(JSONError) -> SignedInUser {
        guard current == UInt8(ascii: "\"") else { return .id(try scanID(depth: depth)) }
        var text = string(try scanString())
        return text.withUTF8 { utf8 in
            var scanner = JSONScanner(UnsafeRawBufferPointer(utf8))
            do throws(JSONError) {
                scanner.skipWhitespace()
                let id = try scanner.scanID(depth: 0)
                try scanner.expectEnd()
                return .id(id)
            } catch {
                return .notJSON
            }
        }
    }

    private mutating func scanID(depth: Int) throws(JSONError) -> Name? {
        var id: Name?
        try scanObject(depth: depth) { (key, scanner) throws(JSONError) in
            guard scanner.isText(key, "id") else { return false }
            id = try scanner.scanIdentifier(depth: depth + 1)
            return true
        }
        return id
    }

    mutating func scanWatchlist(depth: Int) throws(JSONError) -> [WatchlistEvent] {
        var events: [WatchlistEvent] = []
        try forEachElement(depth: depth) { scanner throws(JSONError) in
            if let event = try scanner.scanWatchlistEvent(depth: depth + 1) { events.append(event) }
        }
        return events
    }

    private mutating func scanWatchlistEvent(depth: Int) throws(JSONError) -> WatchlistEvent? {
        var name: Name?
        var userIDs: [String] = []
        try scanObject(depth: depth) { (key, scanner) throws(JSONError) in
            if scanner.isText(key, "name") {
                name = try scanner.scanText(depth: depth + 1).map { Name($0) }
            } else if scanner.isText(key, "user_ids") {
                userIDs = try scanner.scanIdentifiers(depth: depth + 1)
            } else {
                return false
            }
            return true
        }
        return name.map { WatchlistEvent(name: $0, userIDs: userIDs) }
    }
}

/// The user in a sign-in's user data.
enum SignedInUser {
    case notJSON
    case id(Name?)
}
