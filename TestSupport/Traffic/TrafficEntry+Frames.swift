import PusherChannels

extension TrafficEntry {
    /// Creates an entry for a message. `url` is the URL of its connection.
    init(frame text: String, isSent: Bool, url: String, redaction: Redaction) {
        var members: [Name: JSONValue]
        switch try? JSONValue(parsing: text) {
        case .object(let message)?: members = message.merging(Self.opened(message)) { $1 }
        case let value?: members = ["data": value]
        case nil: members = ["data": .string(text)]
        }
        members = redaction.redact(.object(members)).objectValue ?? [:]
        members["frame"] = isSent ? "sent" : "received"
        self.init(members: members, url: url)
    }

    /// Returns the members that hold JSON in a string, as JSON, so that people can read it.
    private static func opened(_ message: [Name: JSONValue]) -> [Name: JSONValue] {
        guard let data = message["data"].map(opened) else { return [:] }
        guard case .object(let members) = data else { return ["data": data] }
        let inner = members.filter { $0.key == "channel_data" || $0.key == "user_data" }.mapValues(opened)
        return ["data": .object(members.merging(inner) { $1 })]
    }

    private static func opened(_ value: JSONValue) -> JSONValue {
        value.stringValue.flatMap { try? JSONValue(parsing: $0) } ?? value
    }
}
