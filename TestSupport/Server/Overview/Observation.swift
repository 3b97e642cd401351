import PusherChannels

/// What an observer of a server is told beyond the server's present state. The number of entries and the length of each text are
/// limited, whatever clients send.
struct Observation: Sendable {
    /// What happened. Observers know these names.
    enum Kind: String, Encodable, Sendable {
        case event, connected, disconnected, subscribed, unsubscribed, occupied, vacated, refused
    }

    /// Whether the data of an encrypted event could be read.
    enum Encryption: String, Encodable, Sendable {
        case decrypted, unreadable
    }

    struct Event: Sendable {
        let name: Excerpt
        let data: Excerpt
        /// `nil` if the event wasn't encrypted.
        let encryption: Encryption?
        let receivers: Int
    }

    struct Entry: Sendable {
        let number: Int
        let time: Instant
        let kind: Kind
        let appKey: String?
        /// The connection that did it; `nil` for a channel, or the app's backend.
        let connection: ServerMachine.ConnectionID?
        let channel: Excerpt?
        /// A new connection's socket id, a subscriber's user, or the reason for a refusal.
        let text: Excerpt?
        let event: Event?
    }

    /// As much data as the servers that are imitated let pass, and more. Only so much of one event is kept.
    static let dataLimit = 1 << 17

    /// The latest events. Clients that come and go don't displace them.
    private var events = Deque<Entry>()
    private var others = Deque<Entry>()
    /// The number of all entries so far.
    private(set) var total = 0
    /// The channels that have subscribers, as a person sorts them.
    private(set) var channels: [ServerMachine.ChannelKey]

    init(channels: some Sequence<ServerMachine.ChannelKey>) {
        self.channels = channels.sorted(by: Self.precedes)
    }

    /// Returns the entries that came after the one with a number, the newest first.
    func entries(after number: Int) -> [Entry] {
        (Array(events) + Array(others)).filter { $0.number > number }.sorted { $0.number > $1.number }
    }

    func data(ofEntry number: Int) -> Excerpt? {
        events.first { $0.number == number }?.event?.data
    }

    mutating func record(
        _ kind: Kind, at time: Instant, appKey: String?, by connection: ServerMachine.ConnectionID?, channel: Name?,
        text: String?, event: Event? = nil
    ) {
        total += 1
        let entry = Entry(
            number: total, time: time, kind: kind, appKey: appKey, connection: connection,
            channel: channel.map { Excerpt(name: $0.text) }, text: text.map { Excerpt($0, upTo: 200) }, event: event)
        if kind == .event {
            events.append(entry)
            if events.count > 100 { events.popFirst() }
        } else {
            others.append(entry)
            if others.count > 200 { others.popFirst() }
        }
    }

    // MARK: Channels

    mutating func occupied(_ channel: ServerMachine.ChannelKey) {
        channels.insert(channel, at: position(of: channel))
    }

    mutating func vacated(_ channel: ServerMachine.ChannelKey) {
        let position = position(of: channel)
        if position < channels.count, channels[position] == channel { channels.remove(at: position) }
    }

    private func position(of channel: ServerMachine.ChannelKey) -> Int {
        var (low, high) = (0, channels.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.precedes(channels[middle], channel) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func precedes(_ left: ServerMachine.ChannelKey, _ right: ServerMachine.ChannelKey) -> Bool {
        left.name == right.name ? left.appKey < right.appKey : left.name.comesBefore(right.name)
    }
}

extension Name {
    /// Returns whether a person lists the name before another: `room-2` before `room-10`.
    func comesBefore(_ other: Name) -> Bool {
        var (left, right) = (text.utf8[...], other.text.utf8[...])
        while let first = left.first, let second = right.first {
            if first.isDigit, second.isDigit {
                let (number, otherNumber) = (left.takeNumber(), right.takeNumber())
                if number.count != otherNumber.count { return number.count < otherNumber.count }
                if !number.elementsEqual(otherNumber) { return number.lexicographicallyPrecedes(otherNumber) }
            } else {
                if first != second { return first < second }
                left.removeFirst()
                right.removeFirst()
            }
        }
        // Texts that differ only in zeros before a number still have an order.
        return left.isEmpty && right.isEmpty ? self < other : left.isEmpty
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

extension Substring.UTF8View {
    /// Removes the digits at the beginning, and returns them without zeros in front.
    fileprivate mutating func takeNumber() -> Substring.UTF8View {
        let digits = prefix(while: \.isDigit)
        self = self[digits.endIndex...]
        return digits.drop { $0 == UInt8(ascii: "0") }
    }
}

extension ServerMachine {
    /// Keeps what happened for the observer, if there is one.
    mutating func observe(
        _ kind: Observation.Kind, appKey: String? = nil, by connection: ConnectionID? = nil, channel: Name? = nil,
        text: String? = nil
    ) {
        observation?.record(kind, at: now, appKey: appKey, by: connection, channel: channel, text: text)
    }

    /// Keeps an event for the observer, if there is one. Data that the app's master key decrypts is kept as its backend wrote it.
    mutating func observe(
        _ event: String, on channel: ChannelName, data: String, app: ServerApp, by sender: ConnectionID?, receivers: Int
    ) {
        guard observation != nil else { return }
        var (shown, encryption): (String, Observation.Encryption?) = (data, nil)
        if channel.kind == .encrypted {
            let key = SecretBox.isSupported ? app.encryptionMasterKey.flatMap { try? EncryptionMasterKey(base64: $0) } : nil
            let decrypted = key.flatMap { EncryptedEvent.decrypt(data, of: channel.text, with: [$0]) }
            (shown, encryption) = (decrypted ?? data, decrypted == nil ? .unreadable : .decrypted)
        }
        observation?.record(
            .event, at: now, appKey: app.key, by: sender, channel: channel.name, text: nil,
            event: Observation.Event(
                name: Excerpt(name: event), data: Excerpt(shown, upTo: Observation.dataLimit), encryption: encryption,
                receivers: receivers))
    }
}
