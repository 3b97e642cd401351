/// One event object as it came over the wire, its `data` not yet understood.
struct Envelope: Equatable, Sendable {
    var event: String
    var channel: String?
    /// The string as sent; the raw text of any other JSON value; nil when absent or null.
    var data: String?
    var userID: String?
    /// Top-level members the protocol doesn't name, as raw JSON text; nil when there are none.
    var extra: [String: String]?

    init(event: String, channel: String? = nil, data: String? = nil, userID: String? = nil, extra: [String: String]? = nil) {
        self.event = event
        self.channel = channel
        self.data = data
        self.userID = userID
        self.extra = extra
    }

    /// `data` as a JSON value. Servers send either a string that holds JSON or the value itself; plain text stays a string.
    var payload: JSONValue? {
        guard let data else { return nil }
        do {
            return try JSONValue(parsing: data)
        } catch {
            return .string(data)
        }
    }

    func renamed(_ event: String) -> Envelope {
        var copy = self
        copy.event = event
        return copy
    }
}

/// A frame that can't be understood. The connection goes on; the frame is reported.
enum MalformedFrame: Error, Equatable, Sendable, CustomStringConvertible {
    case notJSON(JSONError)
    case notAnObject
    case missingEvent
    case binary
    /// An event of the protocol itself lacks what it must carry.
    case incomplete(event: String, missing: String)

    var description: String {
        switch self {
        case .notJSON(let error): "the frame is not JSON: \(error)"
        case .notAnObject: "the frame is JSON, but not an object"
        case .missingEvent: "the frame has no event name"
        case .binary: "the frame is binary, which protocol 7 doesn't use"
        case .incomplete(let event, let missing): "\(event) came without \(missing)"
        }
    }
}
