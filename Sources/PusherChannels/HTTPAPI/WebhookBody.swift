/// The body of a webhook: its time, and each of its events as raw text.
///
/// A client's event may be nested more deeply than is read. This makes only that event fail.
struct WebhookBody {
    /// The time in seconds.
    private(set) var time: Double?
    private(set) var events: [String]?

    /// Reads a body; nil if it isn't a JSON object.
    init?(_ text: String) {
        var text = text
        let isObject = text.withUTF8 { utf8 in
            var scanner = JSONScanner(UnsafeRawBufferPointer(utf8))
            do throws(JSONError) {
                try read(&scanner)
                return true
            } catch {
                return false
            }
        }
        guard isObject else { return nil }
    }

    /// Reads the members. If several have the same name, the last one counts, as in ``JSONValue``.
    private mutating func read(_ scanner: inout JSONScanner) throws(JSONError) {
        scanner.skipWhitespace()
        try scanner.scanMembers { (key, scanner) throws(JSONError) in
            if scanner.isText(key, "events") {
                events = try Self.elements(&scanner)
            } else {
                let value = try Self.text(&scanner)
                if scanner.isText(key, "time_ms") { time = (try? JSONValue(parsing: value)).flatMap(Self.seconds) }
            }
        }
        try scanner.expectEnd()
    }

    /// Returns a time in seconds. Some servers write it as text (slanger), or in seconds (pusher-fake, ipe): below 10^11,
    /// milliseconds would be of the year 1973 or earlier.
    private static func seconds(_ time: JSONValue) -> Double? {
        guard let number = time.integerValue else { return nil }
        return number < 100_000_000_000 ? Double(number) : Double(number) / 1000
    }

    private static func elements(_ scanner: inout JSONScanner) throws(JSONError) -> [String]? {
        guard scanner.current == UInt8(ascii: "[") else {
            _ = try text(&scanner)
            return nil
        }
        var elements: [String] = []
        try scanner.scanElements { scanner throws(JSONError) in elements.append(try text(&scanner)) }
        return elements
    }

    private static func text(_ scanner: inout JSONScanner) throws(JSONError) -> String {
        let start = scanner.position
        try scanner.skipNestedValue()
        return scanner.text(start..<scanner.position)
    }
}

extension JSONScanner {
    /// Skips a value, however deeply it is nested. Inside a container, it looks only at strings and brackets.
    fileprivate mutating func skipNestedValue() throws(JSONError) {
        guard current == UInt8(ascii: "{") || current == UInt8(ascii: "[") else { return try skipValue() }
        var level = 0
        repeat {
            switch current {
            case UInt8(ascii: "\""):
                _ = try scanString()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): level += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): level -= 1
            default: if position >= bytes.count { throw fail("unterminated value") }
            }
            advance()
        } while level > 0
    }
}
