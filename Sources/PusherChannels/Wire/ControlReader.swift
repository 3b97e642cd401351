/// Reads the `data` of the protocol's own events. Servers differ in how they send it: as a string holding JSON, as the
/// value itself, as an empty string, or not at all; every form that can be understood is.
struct ControlReader {
    let envelope: Envelope

    private var payload: JSONValue { envelope.payload ?? .null }

    private func channel() throws(MalformedFrame) -> String {
        guard let channel = envelope.channel, !channel.isEmpty else { throw missing("a channel") }
        return channel
    }

    private func missing(_ what: String) -> MalformedFrame {
        .incomplete(event: envelope.event, missing: what)
    }

    func connectionEstablished() throws(MalformedFrame) -> ServerControl {
        guard let socketID = payload["socket_id"]?.identifier, !socketID.isEmpty else { throw missing("a socket_id") }
        let timeout = payload["activity_timeout"]?.integerValue.flatMap { $0 > 0 && $0 < 86_400 ? $0 : nil }
        return .connectionEstablished(socketID: socketID, activityTimeout: timeout.map { .seconds($0) })
    }

    func error() -> ServerControl {
        let message = payload["message"]?.stringValue ?? payload.stringValue ?? "the server gave no reason"
        return .error(code: payload["code"]?.integerValue, message: message)
    }

    func subscriptionSucceeded() throws(MalformedFrame) -> ServerControl {
        .subscriptionSucceeded(channel: try channel(), presence: payload["presence"].map(snapshot))
    }

    /// Members are the ids and the hash's keys together: pusher-fake leaves `ids` out, Reverb sends an empty hash as `[]`.
    private func snapshot(_ presence: JSONValue) -> PresenceSnapshot {
        let hash = presence["hash"]?.objectValue ?? [:]
        let ids = (presence["ids"]?.arrayValue ?? []).compactMap(\.identifier)
        var seen: Set<String> = []
        let ordered = (ids + hash.keys.sorted()).filter { seen.insert($0).inserted }
        return PresenceSnapshot(members: ordered.map { PresenceMember(userID: $0, info: hash[$0].flatMap(\.unlessNull)) })
    }

    func subscriptionError() throws(MalformedFrame) -> ServerControl {
        let message = payload["error"]?.stringValue ?? payload.stringValue ?? "the server gave no reason"
        return .subscriptionError(
            channel: try channel(), type: payload["type"]?.stringValue, message: message,
            status: payload["status"]?.integerValue)
    }

    func subscriptionCount() throws(MalformedFrame) -> ServerControl {
        guard let count = payload["subscription_count"]?.integerValue else { throw missing("a subscription_count") }
        return .subscriptionCount(channel: try channel(), count: count)
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

    private func userID() throws(MalformedFrame) -> String {
        guard let userID = payload["user_id"]?.identifier else { throw missing("a user_id") }
        return userID
    }
}

extension JSONValue {
    fileprivate var unlessNull: JSONValue? {
        self == .null ? nil : self
    }
}
