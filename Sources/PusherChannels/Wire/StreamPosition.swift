/// A place in the stream of a channel's events: the server numbers them, and names the stream anew when it can't go on counting.
/// Store it, encoded, together with what the event changed.
public struct StreamPosition: Hashable, Sendable {
    let stream: Name
    /// The event's number, or that of the last event before the place.
    public let serial: Int
    /// The serials after it that were had already, as servers may send events out of order, and readers may take them so.
    let seen: [Int]

    /// The server's name of the stream.
    public var streamID: String { stream.text }

    init(stream: Name, serial: Int, seen: [Int] = []) {
        self.stream = stream
        self.serial = serial
        self.seen = seen
    }

    /// Creates the place that a server sent; nil if it makes no sense.
    init?(sent stream: Name?, _ serial: Int?) {
        guard let stream, let serial, serial >= 0, Self.nameLengths ~= stream.text.utf8.count else { return nil }
        self.init(stream: stream, serial: serial)
    }

    var before: StreamPosition { StreamPosition(stream: stream, serial: max(serial - 1, 0)) }
    var start: StreamPosition { StreamPosition(stream: stream, serial: 0) }

    /// The number of serials that a client looks back on.
    static let window = 320
    /// The lengths that a stream's name may have, in bytes: it is repeated in requests, and kept for each channel.
    fileprivate static let nameLengths = 1...100
}

extension StreamPosition: Codable {
    private enum Key: String, CodingKey {
        case stream = "stream_id"
        case serial
        case seen
    }

    /// Reads what ``encode(to:)`` wrote. Throws the decoder's errors, also for a serial below zero, a name that isn't 1 to 100 bytes
    /// long, or serials that were seen far from the place.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        func check(_ isValid: Bool, _ key: Key, _ rule: String) throws {
            if !isValid { throw DecodingError.dataCorruptedError(forKey: key, in: values, debugDescription: rule) }
        }
        let serial = try values.decode(Int.self, forKey: .serial)
        try check(serial >= 0, .serial, "a serial is not negative")
        let stream = try values.decode(String.self, forKey: .stream)
        try check(Self.nameLengths ~= stream.utf8.count, .stream, "a name has 1 to 100 bytes")
        let seen = try values.decodeIfPresent([Int].self, forKey: .seen) ?? []
        let areClose = seen.count < Self.window && seen.allSatisfy { $0 > serial && $0 - serial < Self.window }
        try check(areClose, .seen, "they follow the serial closely")
        self.init(stream: Name(stream), serial: serial, seen: seen)
    }

    /// Writes the stream's name, the serial, and those after it that were seen.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(streamID, forKey: .stream)
        try values.encode(serial, forKey: .serial)
        if !seen.isEmpty { try values.encode(seen, forKey: .seen) }
    }
}

extension Envelope {
    /// The event's place in its channel's stream, from the members beside it; nil if it has none, or one that makes no sense.
    var position: StreamPosition? {
        withObject { scanner in
            var (stream, serial) = (Name?.none, Int?.none)
            scanner.skipWhitespace()
            do throws(JSONError) {
                try scanner.scanMembers { (key, scanner) throws(JSONError) in
                    if scanner.isText(key, "serial") {
                        serial = try scanner.scanInteger(depth: 1)
                    } else if scanner.isText(key, "stream_id") {
                        stream = try scanner.scanName(depth: 1)
                    } else if !passData(in: &scanner) {
                        try scanner.skipValue()
                    }
                }
            } catch {
                return nil  // It was well formed when the event was read.
            }
            return StreamPosition(sent: stream, serial)
        } ?? nil
    }

    /// The head of the channel's history when its subscription succeeded; nil if the server keeps none.
    var attachSerial: Int? {
        guard let data else { return nil }
        do throws(JSONError) {
            return try JSONValue(parsing: data)["attach_serial"]?.integerValue.flatMap { $0 >= 0 ? $0 : nil }
        } catch {
            return nil  // The success counts, whatever its data.
        }
    }
}

/// The server's answer to a request to replay what channels missed.
struct ResumeAnswer: Equatable, Sendable {
    struct Failure: Equatable, Sendable {
        var code = ""
        var reason = ""
        var currentStream: String?

        func names(_ word: StaticString) -> Bool { Name(code).equals(word) || Name(reason).equals(word) }
    }

    /// For each channel whose events were all sent, the last one's place; a nil place if there were none.
    var recovered: [Name: StreamPosition?] = [:]
    var failed: [Name: Failure] = [:]

    /// Reads an answer. What makes no sense in it is left out, so that its channel counts as not answered.
    init(_ envelope: Envelope) {
        guard let data = envelope.payload else { return }
        for entry in data["recovered"]?.arrayValue ?? [] {
            guard let channel = entry["channel"]?.stringValue else { continue }
            let position = entry["position"]
            let stream = position?["stream_id"]?.stringValue.map { Name($0) }
            recovered[Name(channel)] = .some(StreamPosition(sent: stream, position?["serial"]?.integerValue))
        }
        for entry in data["failed"]?.arrayValue ?? [] {
            guard let channel = entry["channel"]?.stringValue else { continue }
            failed[Name(channel)] = Failure(
                code: entry["code"]?.stringValue ?? "", reason: entry["reason"]?.stringValue ?? "",
                currentStream: entry["current_stream_id"]?.stringValue)
        }
    }
}

/// A page of a channel's history, the oldest event first.
struct HistoryPage: Equatable, Sendable {
    var events: [Envelope] = []
    /// The serials that were asked for.
    var serials: ClosedRange<Int>?
    /// The cursor of the next page; nil if this is the last one.
    var cursor: String?
    /// Indicates whether everything that was asked for is in the pages up to this one.
    var isComplete = false

    init(_ envelope: Envelope) {
        guard let data = envelope.payload else { return }
        if let first = data["bounds"]?["start_serial"]?.integerValue, let last = data["bounds"]?["end_serial"]?.integerValue,
            first <= last
        {
            serials = first...last
        }
        var decoder = EnvelopeDecoder(.sockudo)
        for item in data["items"]?.arrayValue ?? [] {
            guard let message = item["message"] else { continue }
            let bytes = Array(message.text.utf8)
            do throws(MalformedMessage) {
                switch try decoder.decode(bytes, bytes.indices) {
                case .event(let event), .control(_, let event): events.append(event)
                }
            } catch {
                return  // Incomplete, without a next page.
            }
        }
        if data["has_more"]?.boolValue == true { cursor = data["next_cursor"]?.stringValue }
        let continuity = data["continuity"]
        isComplete =
            data["has_more"]?.boolValue == false && continuity?["truncated_by_retention"]?.boolValue != true
            && continuity?["complete"]?.boolValue != false
    }
}

extension Envelope {
    /// The data as a JSON value. Servers send either a string that holds JSON or the value itself; plain text stays a string.
    var payload: JSONValue? {
        guard hasData else { return nil }
        return withData { bytes in
            do throws(JSONError) {
                return try JSONValue(parsing: bytes)
            } catch {
                return .string(String(decoding: bytes, as: UTF8.self))
            }
        }
    }
}
