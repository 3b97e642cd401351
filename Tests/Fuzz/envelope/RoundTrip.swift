/// A message that was understood. Written in other ways, it must be understood again, by Foundation, too.
struct RoundTrip {
    private let message: ServerMessage
    private let envelope: Envelope

    init(_ message: ServerMessage) {
        self.message = message
        switch message {
        case .event(let envelope), .control(_, let envelope): self.envelope = envelope
        }
    }

    func check() {
        checkEscapes()
        for (message, expected) in clientMessages { check(message, expected) }
    }

    // MARK: Escapes

    /// Checks that a character is the same whether it is escaped or not.
    private func checkEscapes() {
        let members = [
            ("event", envelope.event.text), ("channel", envelope.channel?.text), ("data", envelope.data),
            ("user_id", envelope.userID),
        ]
        let plain = frame(members) { $0.quotedJSON }
        let escaped = frame(members, Self.escaped)
        require(decode(Array(plain.utf8)) == decode(Array(escaped.utf8)), "\(plain) is not \(escaped)")
        guard case .success(let again) = decode(Array(plain.utf8)) else { return require(false, "\(plain) is not understood") }
        require(again == Self.withoutExtra(message), "\(message) became \(again)")
    }

    private func frame(_ members: [(String, String?)], _ quote: (String) -> String) -> String {
        let texts = members.compactMap { name, value in value.map { "\(quote(name)):\(quote($0))" } }
        return "{\(texts.joined(separator: ","))}"
    }

    private static func escaped(_ text: String) -> String {
        let units = text.utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        return "\"\(units.joined())\""
    }

    private static func withoutExtra(_ message: ServerMessage) -> ServerMessage {
        switch message {
        case .event(let envelope): .event(withoutExtra(envelope))
        case .control(let control, let envelope): .control(control, withoutExtra(envelope))
        }
    }

    private static func withoutExtra(_ envelope: Envelope) -> Envelope {
        Envelope(event: envelope.event, channel: envelope.channel, data: envelope.data, userID: envelope.userID)
    }

    // MARK: Client messages

    /// Client messages that contain these texts, and the values that they must have.
    private var clientMessages: [(ClientMessage, JSONValue)] {
        let (event, channel) = (envelope.event.text, envelope.channel?.text ?? "")
        let payload = envelope.data.flatMap(JSONValue.init(ifJSON:)) ?? .string(envelope.data ?? "")
        var subscription: [Name: JSONValue] = ["channel": .string(channel), "auth": .string(event)]
        subscription["channel_data"] = envelope.data.map { .string($0) }
        return [
            (.subscribe(channel: channel, auth: event, channelData: envelope.data), Self.control("subscribe", subscription)),
            (.unsubscribe(channel: event), Self.control("unsubscribe", ["channel": .string(event)])),
            (
                .signIn(auth: channel, userData: event),
                Self.control("signin", ["auth": .string(channel), "user_data": .string(event)])
            ),
            (
                .clientEvent(name: event, channel: channel, data: payload.text),
                ["event": .string(event), "channel": .string(channel), "data": JSONValue(ifJSON: payload.text) ?? payload]
            ),
        ]
    }

    private static func control(_ event: String, _ data: [Name: JSONValue]) -> JSONValue {
        ["event": .string("pusher:\(event)"), "data": .object(data)]
    }

    private func check(_ message: ClientMessage, _ expected: JSONValue) {
        let text = EnvelopeEncoder.encode(message)
        for value in [JSONValue(ifJSON: text), FoundationJSON.value(of: JSONDifferences(in: Array(text.utf8)).repaired)] {
            require(value.map { FoundationJSON.isSame($0, expected) } ?? false, "\(text) is \(String(describing: value))")
        }
    }
}
