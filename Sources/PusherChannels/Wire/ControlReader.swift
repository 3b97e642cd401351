/// Reads the `data` of the protocol's own events. Servers differ in how they send it: as a string holding JSON, as the
/// value itself, as an empty string, or not at all; every form that can be understood is.
struct ControlReader {
    private let envelope: Envelope
    /// Parsed once, however often it is looked into.
    private let payload: JSONValue

    init(envelope: Envelope) {
        self.envelope = envelope
        payload = envelope.payload ?? .null
    }

    private func channel() throws(MalformedFrame) -> Name {
        guard let channel = envelope.channel, !channel.text.isEmpty else { throw missing("a channel") }
        return channel
    }

    private func missing(_ what: String) -> MalformedFrame {
        .incomplete(event: envelope.event, missing: what)
    }

    /// The first text there is, the member's or that of data which is nothing but a text.
    private func reason(_ member: String) -> String {
        let texts = [payload[member]?.stringValue, payload.stringValue].compactMap { $0 }
        return texts.first { !$0.isEmpty } ?? "the server gave no reason"
    }

    func connectionEstablished() throws(MalformedFrame) -> ServerControl {
        guard let socketID = payload["socket_id"]?.identifier, !socketID.isEmpty else { throw missing("a socket_id") }
        let timeout = payload["activity_timeout"]?.number.flatMap { $0 > 0 && $0 < 86_400 ? $0 : nil }
        return .connectionEstablished(socketID: socketID, activityTimeout: timeout.map { .seconds($0) })
    }

    func error() -> ServerControl {
        .error(code: payload["code"]?.number, message: reason("message"))
    }

    func subscriptionSucceeded() throws(MalformedFrame) -> ServerControl {
        .subscriptionSucceeded(channel: try channel(), presence: payload["presence"].map(snapshot))
    }

    /// Members are the ids and the hash's keys together: pusher-fake leaves `ids` out, Reverb sends an empty hash as `[]`.
    private func snapshot(_ presence: JSONValue) -> PresenceSnapshot {
        let hash = presence["hash"]?.objectValue ?? [:]
        let ids = (presence["ids"]?.arrayValue ?? []).compactMap(\.name)
        var seen: Set<Name> = []
        let ordered = (ids + hash.keys.sorted()).filter { seen.insert($0).inserted }
        return PresenceSnapshot(members: ordered.map { PresenceMember(userID: $0, info: hash[$0].flatMap(\.unlessNull)) })
    }

    func subscriptionError() throws(MalformedFrame) -> ServerControl {
        .subscriptionError(
            channel: try channel(), type: payload["type"]?.stringValue, message: reason("error"),
            status: payload["status"]?.number)
    }

    func subscriptionCount() throws(MalformedFrame) -> ServerControl {
        guard let count = payload["subscription_count"]?.number else { throw missing("a subscription_count") }
        return .subscriptionCount(channel: try channel(), count: count)
    }

    /// The user data is the text that was signed; its `id` may be a number.
    func signedIn() throws(MalformedFrame) -> ServerControl {
        guard let userData = payload["user_data"] else { throw missing("user_data") }
        let user: JSONValue
        do {
            user = try userData.stringValue.map(JSONValue.init(parsing:)) ?? userData
        } catch {
            throw missing("user_data in JSON")
        }
        guard let id = user["id"]?.name, !id.text.isEmpty else { throw missing("a user id") }
        return .signedIn(userID: id)
    }

    func watchlist() -> [WatchlistEvent] {
        (payload["events"]?.arrayValue ?? []).compactMap { event in
            event["name"]?.stringValue.map { WatchlistEvent(name: Name($0), userIDs: Self.userIDs(event)) }
        }
    }

    /// Sockudo sends `online` and `offline` as plain events without a channel.
    static func plainWatchlist(_ envelope: Envelope) -> WatchlistEvent? {
        guard envelope.channel == nil, envelope.event.equals("online") || envelope.event.equals("offline") else { return nil }
        let payload = envelope.payload ?? .null
        guard payload["user_ids"] != nil else { return nil }
        return WatchlistEvent(name: envelope.event, userIDs: userIDs(payload))
    }

    private static func userIDs(_ event: JSONValue) -> [Name] {
        (event["user_ids"]?.arrayValue ?? []).compactMap(\.name)
    }

    func cacheMiss() throws(MalformedFrame) -> ServerControl {
        .cacheMiss(channel: try channel())
    }

    func memberAdded() throws(MalformedFrame) -> ServerControl {
        let member = PresenceMember(userID: try userID(), info: payload["user_info"]?.unlessNull)
        return .memberAdded(channel: try channel(), member: member)
    }

    func memberRemoved() throws(MalformedFrame) -> ServerControl {
        .memberRemoved(channel: try channel(), userID: try userID())
    }

    private func userID() throws(MalformedFrame) -> Name {
        guard let userID = payload["user_id"]?.name else { throw missing("a user_id") }
        return userID
    }
}

extension JSONValue {
    fileprivate var unlessNull: JSONValue? {
        if case .null = self { nil } else { self }
    }

    fileprivate var name: Name? { identifier.map { Name($0) } }

    /// An integer, or a string that holds one: not every server keeps the two apart.
    fileprivate var number: Int? {
        integerValue ?? stringValue.flatMap { Int($0) }
    }
}
