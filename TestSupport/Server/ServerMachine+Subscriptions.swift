import PusherChannels

extension ServerMachine {
    /// Why a subscription is turned away, as its `pusher:subscription_error` says.
    private struct SubscriptionRefusal: Error {
        var type = "AuthError"
        let message: String
        var status = 401
    }

    private struct Member {
        let id: String
        let info: JSONValue?
    }

    mutating func subscribe(_ data: JSONValue?, from id: ConnectionID, into effects: inout [Effect]) {
        guard let connection = connections[id] else { return }
        guard let name = data?["channel"]?.stringValue else {
            return reject("Subscribe without a channel", from: id, into: &effects)
        }
        guard connection.subscriptions[name] == nil else {
            return reject("Existing subscription to channel \(name)", from: id, into: &effects)
        }
        do throws(SubscriptionRefusal) {
            let member = try admit(data, to: ServerChannelName(name: name), from: connection)
            join(name, id, as: member, into: &effects)
        } catch {
            let frame = ServerFrame.subscriptionError(
                name, type: error.type, message: error.message, status: error.status)
            effects.append(.send(frame, to: id))
            effects.append(.notice(.subscriptionRefused(id, channel: name, reason: error.message)))
        }
    }

    mutating func unsubscribe(_ data: JSONValue?, from id: ConnectionID, into effects: inout [Effect]) {
        guard let name = data?["channel"]?.stringValue else {
            return reject("Unsubscribe without a channel", from: id, into: &effects)
        }
        guard connections[id]?.subscriptions[name] != nil else {
            return reject("No current subscription to channel \(name)", from: id, into: &effects)
        }
        leave(name, id, into: &effects)
    }

    // MARK: Admission

    private func admit(
        _ data: JSONValue?, to channel: ServerChannelName, from connection: Connection
    ) throws(SubscriptionRefusal) -> Member? {
        guard channel.isValid(in: profile) else {
            throw SubscriptionRefusal(type: "InvalidChannel", message: "Invalid channel name: \(channel.name)", status: 400)
        }
        guard channel.needsAuthorization else { return nil }
        let channelData = data?["channel_data"]?.stringValue
        if admission != .anyKey(secret: nil) {
            let problem = signatureProblem(
                data?["auth"]?.stringValue, channel: channel.name,
                channelData: channel.isPresence ? channelData : nil, connection: connection)
            if let problem { throw SubscriptionRefusal(message: problem) }
        }
        guard channel.isPresence else { return nil }
        let member = channelData.flatMap { try? JSONValue(parsing: $0) }
        guard let userID = member?["user_id"]?.identifier, !userID.isEmpty else {
            if admission == .anyKey(secret: nil) { return nil }
            throw SubscriptionRefusal(message: "Invalid channel_data: presence channels need a user_id")
        }
        let present = channels[key(of: channel.name, connection)]
        if let present, present.members[userID] == nil, present.memberIDs.count >= profile.maximumPresenceMembers {
            throw SubscriptionRefusal(
                type: "LimitReached", message: "The maximum members per presence channel limit was reached", status: 4100)
        }
        return Member(id: userID, info: member?["user_info"])
    }

    // MARK: Joining and leaving

    private mutating func join(
        _ name: String, _ id: ConnectionID, as member: Member?, into effects: inout [Effect]
    ) {
        guard let connection = connections[id] else { return }
        let key = key(of: name, connection)
        var channel = channels[key] ?? ServerChannel()
        let others = channel.subscribers
        let isFirst = member.map { channel.join($0.id, info: $0.info) } ?? false
        channel.add(id)
        channels[key] = channel
        connections[id]?.subscriptions[name] = .some(member?.id)

        let isPresence = ServerChannelName(name: name).isPresence
        let data = isPresence ? JSONValue.object(["presence": channel.presence]).text : "{}"
        let success = ServerFrame.event("pusher_internal:subscription_succeeded", channel: name, data: data)
        effects.append(.send(success, to: id))
        effects.append(.notice(.subscribed(id, channel: name, userID: member?.id)))
        if isFirst, let member {
            var added: [String: JSONValue] = ["user_id": .string(member.id)]
            added["user_info"] = member.info
            let data = JSONValue.object(added).text
            send(ServerFrame.event("pusher_internal:member_added", channel: name, data: data), to: others, into: &effects)
        }
    }

    mutating func leave(_ name: String, _ id: ConnectionID, into effects: inout [Effect]) {
        guard let connection = connections[id], let userID = connection.subscriptions[name] else { return }
        let key = key(of: name, connection)
        connections[id]?.subscriptions[name] = nil
        channels[key]?.remove(id)
        let isLast = userID.map { channels[key]?.leave($0) ?? false } ?? false
        let others = channels[key]?.subscribers ?? []
        if others.isEmpty { channels[key] = nil }
        effects.append(.notice(.unsubscribed(id, channel: name)))
        if isLast, let userID {
            let data = JSONValue.object(["user_id": .string(userID)]).text
            send(ServerFrame.event("pusher_internal:member_removed", channel: name, data: data), to: others, into: &effects)
        }
    }

    func key(of name: String, _ connection: Connection) -> ChannelKey {
        ChannelKey(appKey: connection.app.key, name: name)
    }

    func send(_ frame: String, to receivers: [ConnectionID], into effects: inout [Effect]) {
        for receiver in receivers { effects.append(.send(frame, to: receiver)) }
    }
}
