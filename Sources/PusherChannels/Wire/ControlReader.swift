/// A reader of the `data` of the protocol's own events. Servers differ in how they send it: as a string holding JSON, as the
/// value itself, as an empty string, or not at all. Every form that can be understood is accepted.
///
/// The data is read once, from its first byte to its last, and only the values that the event needs are made, as servers may add
/// anything.
struct ControlReader {
    private let envelope: Envelope

    init(envelope: Envelope) {
        self.envelope = envelope
    }

    // MARK: Fields of an event

    func connectionEstablished() throws(MalformedMessage) -> ServerControl {
        var socketID: Name?
        var timeout: Int?
        read { (key, scanner) throws(JSONError) in
            if scanner.isText(key, "socket_id") {
                socketID = try scanner.scanIdentifier(depth: 1)
            } else if scanner.isText(key, "activity_timeout") {
                timeout = try scanner.scanInteger(depth: 1)
            } else {
                return false
            }
            return true
        } otherwise: {
            (socketID, timeout) = (nil, nil)
        }
        guard let socketID, !socketID.text.isEmpty else { throw missing("a socket_id") }
        guard let id = SocketID(socketID.text) else { throw .unusableSocketID(socketID.text.inLogLine(upTo: 60)) }
        let seconds = timeout.flatMap { $0 > 0 && $0 < 86_400 ? $0 : nil }
        return .connectionEstablished(socketID: id, activityTimeout: seconds.map { .seconds($0) })
    }

    func error() -> ServerControl {
        let reason = reason("message", number: "code")
        return .error(code: reason.number, message: reason.message)
    }

    func subscriptionError() throws(MalformedMessage) -> ServerControl {
        let channel = try channel()
        let reason = reason("error", number: "status")
        return .subscriptionError(channel: channel, type: reason.type, message: reason.message, status: reason.number)
    }

    /// Returns the type, message, and number of an error. The message is the first text there is: the member's, or that of data
    /// which is only a text.
    private func reason(_ member: StaticString, number name: StaticString) -> (type: String?, message: String, number: Int?) {
        var type: String?
        var message: String?
        var number: Int?
        let text = read { (key, scanner) throws(JSONError) in
            if scanner.isText(key, member) {
                message = try scanner.scanText(depth: 1)
            } else if scanner.isText(key, name) {
                number = try scanner.scanInteger(depth: 1)
            } else if scanner.isText(key, "type") {
                type = try scanner.scanText(depth: 1)
            } else {
                return false
            }
            return true
        } otherwise: {
            (type, message, number) = (nil, nil, nil)
        }
        return (type, [message, text].compactMap { $0 }.first { !$0.isEmpty } ?? "the server gave no reason", number)
    }

    func subscriptionSucceeded() throws(MalformedMessage) -> ServerControl {
        var presence: PresenceSnapshot?
        read { (key, scanner) throws(JSONError) in
            guard scanner.isText(key, "presence") else { return false }
            presence = try scanner.scanPresence(depth: 1)
            return true
        } otherwise: {
            presence = nil
        }
        return .subscriptionSucceeded(channel: try channel(), presence: presence)
    }

    func subscriptionCount() throws(MalformedMessage) -> ServerControl {
        var count: Int?
        read { (key, scanner) throws(JSONError) in
            guard scanner.isText(key, "subscription_count") else { return false }
            count = try scanner.scanInteger(depth: 1)
            return true
        } otherwise: {
            count = nil
        }
        guard let count else { throw missing("a subscription_count") }
        return .subscriptionCount(channel: try channel(), count: count)
    }

    func cacheMiss() throws(MalformedMessage) -> ServerControl {
        .cacheMiss(channel: try channel())
    }

    func history() throws(MalformedMessage) -> ServerControl {
        .history(channel: try channel(), HistoryPage(envelope))
    }

    func memberAdded() throws(MalformedMessage) -> ServerControl {
        let member = try member()
        return .memberAdded(channel: try channel(), member: member)
    }

    func memberRemoved() throws(MalformedMessage) -> ServerControl {
        let member = try member()
        return .memberRemoved(channel: try channel(), userID: member.userID)
    }

    private func member() throws(MalformedMessage) -> PresenceMember {
        var userID: Name?
        var info: JSONText?
        read { (key, scanner) throws(JSONError) in
            if scanner.isText(key, "user_id") {
                userID = try scanner.scanIdentifier(depth: 1)
            } else if scanner.isText(key, "user_info") {
                info = try scanner.scanUnlessNull(depth: 1)
            } else {
                return false
            }
            return true
        } otherwise: {
            userID = nil
        }
        guard let userID else { throw missing("a user_id") }
        return PresenceMember(userID: userID, info: info)
    }

    // MARK: The user

    /// The user data is the text that was signed; its `id` may be a number.
    func signedIn() throws(MalformedMessage) -> ServerControl {
        var user: SignedInUser?
        read { (key, scanner) throws(JSONError) in
            guard scanner.isText(key, "user_data") else { return false }
            user = try scanner.scanUserData(depth: 1)
            return true
        } otherwise: {
            user = nil
        }
        switch user {
        case nil: throw missing("user_data")
        case .notJSON: throw missing("user_data in JSON")
        case .id(let id?) where !id.text.isEmpty: return .signedIn(userID: id)
        case .id: throw missing("a user id")
        }
    }

    func watchlist() -> [WatchlistEvent] {
        var events: [WatchlistEvent] = []
        read { (key, scanner) throws(JSONError) in
            guard scanner.isText(key, "events") else { return false }
            events = try scanner.scanWatchlist(depth: 1)
            return true
        } otherwise: {
            events = []
        }
        return events
    }

    /// Returns the watchlist event of an event without a channel; nil if it is none. Sockudo sends `online` and `offline` as
    /// plain events.
    static func plainWatchlist(_ envelope: Envelope) -> WatchlistEvent? {
        guard envelope.channel == nil, envelope.event.equals("online") || envelope.event.equals("offline") else { return nil }
        var userIDs: [String]?
        ControlReader(envelope: envelope).read { (key, scanner) throws(JSONError) in
            guard scanner.isText(key, "user_ids") else { return false }
            userIDs = try scanner.scanIdentifiers(depth: 1)
            return true
        } otherwise: {
            userIDs = nil
        }
        return userIDs.map { WatchlistEvent(name: envelope.event, userIDs: $0) }
    }

    // MARK: Reading

    private func channel() throws(MalformedMessage) -> Name {
        guard let channel = envelope.channel, !channel.text.isEmpty else { throw missing("a channel") }
        return channel
    }

    private func missing(_ what: String) -> MalformedMessage {
        .incomplete(event: envelope.event, missing: what)
    }

    /// Reads data. Of an object, `body` reads the members, skipping the values of those it knows. Returns data that is only a
    /// text; calls `otherwise` if the data turns out not to be JSON.
    @discardableResult
    private func read(
        _ body: (_ key: JSONScanner.StringToken, _ scanner: inout JSONScanner) throws(JSONError) -> Bool,
        otherwise forget: () -> Void
    ) -> String? {
        guard envelope.hasData else { return nil }
        return envelope.withData { bytes in
            var scanner = JSONScanner(bytes)
            do throws(JSONError) {
                return try scanner.scanData(body)
            } catch {
                forget()
                return String(decoding: bytes, as: UTF8.self)
            }
        }
    }
}
