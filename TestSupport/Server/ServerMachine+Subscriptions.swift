import PusherChannels

extension ServerMachine {
    /// The reason for refusing a subscription, as its `pusher:subscription_error` says.
    struct SubscriptionRefusal: Error {
        enum Kind: String {
            case unauthorized = "AuthError"
            case invalidChannel = "InvalidChannel"
            case limitReached = "LimitReached"
        }

        var kind = Kind.unauthorized
        let message: String
        var status = 401
    }

    private struct Member {
        let id: Name
        let info: JSONValue?
    }

    mutating func subscribe(_ data: JSONValue?, from id: ConnectionID, into effects: inout [Effect]) {
        guard let connection = connections[id] else { return }
        guard let name = data?["channel"]?.stringValue else {
            return reject("Subscribe without a channel", from: id, into: &effects)
        }
        let channel = ChannelName(name)
        guard connection.subscriptions[channel.name] == nil else {
            return reject("Existing subscription to channel \(name)", channel: name, from: id, into: &effects)
        }
        do throws(SubscriptionRefusal) {
            let member = try admit(data, to: channel, from: connection)
            join(channel, id, as: member, into: &effects)
        } catch {
            effects.append(.send(profile.subscriptionRefused(channel, error), to: id))
            effects.append(.notice(.subscriptionRefused(id, channel: name, reason: error.message)))
            observe(.refused, appKey: connection.app.key, by: id, channel: channel.name, text: error.message)
        }
    }

    mutating func unsubscribe(_ data: JSONValue?, from id: ConnectionID, into effects: inout [Effect]) {
        guard let name = data?["channel"]?.stringValue else {
            return reject("Unsubscribe without a channel", from: id, into: &effects)
        }
        guard connections[id]?.subscriptions[name] != nil else {
            return reject("No current subscription to channel \(name.shortened)", channel: name, from: id, into: &effects)
        }
        leave(Name(name), id, into: &effects)
    }

    // MARK: Admission

    private func admit(
        _ data: JSONValue?, to channel: ChannelName, from connection: Connection
    ) throws(SubscriptionRefusal) -> Member? {
        if ServerUser.isUserChannel(channel.text) {
            guard connection.user?.channel == channel.name else {
                throw SubscriptionRefusal(message: "Only the user signed in may subscribe to \(channel.text.shortened)")
            }
            return nil
        }
        guard channel.problem(profile.channelLimits) == nil else {
            throw SubscriptionRefusal(
                kind: .invalidChannel, message: "Invalid channel name: \(channel.text.shortened)", status: 400)
        }
        guard channel.needsAuthorization else { return nil }
        let isPresence = channel.kind == .presence
        let channelData = data?["channel_data"]?.stringValue
        if checksSignatures(of: connection.app) {
            let problem = signatureProblem(
                data?["auth"]?.stringValue, channel: channel.text, channelData: isPresence ? channelData : nil,
                connection: connection)
            if let problem {
                let words = profile.refusalWords?.replacing("{channel}", with: channel.text)
                throw SubscriptionRefusal(message: words ?? problem)
            }
        }
        return isPresence ? try member(channelData, of: channel, connection) : nil
    }

    private func member(
        _ channelData: String?, of channel: ChannelName, _ connection: Connection
    ) throws(SubscriptionRefusal) -> Member? {
        let member = channelData.flatMap { try? JSONValue(parsing: $0) }
        guard let userID = member?["user_id"]?.identifier, !userID.isEmpty else {
            if admission == .anyKey(secret: nil) { return nil }
            throw SubscriptionRefusal(message: "Invalid channel_data: presence channels need a user_id")
        }
        let info = member?["user_info"]
        guard userID.unicodeScalars.count <= profile.maximumUserIDLength else {
            throw SubscriptionRefusal(
                kind: .limitReached, message: "A user_id can't be longer than \(profile.maximumUserIDLength) characters",
                status: 4301)
        }
        guard (info?.text.utf8.count ?? 0) <= profile.maximumUserInfoLength else {
            throw SubscriptionRefusal(
                kind: .limitReached, message: "A user_info can't be longer than \(profile.maximumUserInfoLength) bytes",
                status: 4301)
        }
        let id = Name(userID)
        let present = channels[key(of: channel.name, connection)]
        if let present, present.members[id] == nil, present.memberIDs.count >= profile.maximumPresenceMembers {
            throw SubscriptionRefusal(
                kind: .limitReached, message: "The maximum members per presence channel limit was reached", status: 4100)
        }
        return Member(id: id, info: info)
    }

    // MARK: Joining and leaving

    private mutating func join(
        _ name: ChannelName, _ id: ConnectionID, as member: Member?, into effects: inout [Effect]
    ) {
        guard let connection = connections[id] else { return }
        let key = key(of: name.name, connection)
        var channel = channels[key] ?? ServerChannel()
        let others = channel.subscribers
        if others.isEmpty { tellBackend(WebhookEvent(.channelOccupied, channel: name.name), of: connection.app, into: &effects) }
        let isFirst = member.map { channel.join($0.id, info: $0.info) } ?? false
        channel.add(id)
        channels[key] = channel
        connections[id]?.subscriptions[name.name] = .some(member?.id)
        observe(.subscribed, appKey: connection.app.key, by: id, channel: name.name, text: member?.id.text)
        if others.isEmpty {
            observation?.occupied(key)
            observe(.occupied, appKey: connection.app.key, channel: name.name)
        }

        if name.kind == .presence, profile.membersWithoutInfo == .breakTheirChannel, channel.hasMemberWithoutInfo {
            return reject("Invalid message format", code: 4200, from: id, into: &effects)
        }
        let members = name.kind == .presence ? channel.presence(profile) : nil
        effects.append(.send(profile.subscriptionSucceeded(name, members: members), to: id))
        effects.append(.notice(.subscribed(id, channel: name.text, userID: member?.id.text)))
        if isFirst || profile.memberChanges == .ofConnections, let member {
            var added: [Name: JSONValue] = ["user_id": .string(member.id.text)]
            added["user_info"] = member.info
            let frame = ServerFrame.event(
                "pusher_internal:member_added", channel: name.text, data: JSONValue.object(added).text)
            send(frame, to: others, into: &effects)
            let event = WebhookEvent(.memberAdded, channel: name.name, userID: member.id)
            tellBackend(event, of: connection.app, into: &effects)
        }
        if caches(name) { sendCache(of: key, to: id, app: connection.app, into: &effects) }
        announceCount(of: key, app: connection.app, into: &effects)
    }

    mutating func leave(_ name: Name, _ id: ConnectionID, into effects: inout [Effect]) {
        guard let connection = connections[id], let userID = connection.subscriptions[name] else { return }
        let key = key(of: name, connection)
        connections[id]?.subscriptions[name] = nil
        channels[key]?.remove(id)
        let isLast = userID.map { channels[key]?.leave($0) ?? false } ?? false
        let others = channels[key]?.subscribers ?? []
        observe(.unsubscribed, appKey: connection.app.key, by: id, channel: name, text: userID?.text)
        if others.isEmpty {
            channels[key] = nil
            observation?.vacated(key)
            observe(.vacated, appKey: connection.app.key, channel: name)
        }
        effects.append(.notice(.unsubscribed(id, channel: name.text)))
        if isLast || profile.memberChanges != .ofUsers, let userID {
            let data = JSONValue.object(["user_id": .string(userID.text)]).text
            send(ServerFrame.event("pusher_internal:member_removed", channel: name.text, data: data), to: others, into: &effects)
            let event = WebhookEvent(.memberRemoved, channel: name, userID: userID)
            tellBackend(event, of: connection.app, into: &effects)
        }
        if others.isEmpty { tellBackend(WebhookEvent(.channelVacated, channel: name), of: connection.app, into: &effects) }
        announceCount(of: key, app: connection.app, into: &effects)
    }

    func key(of name: Name, _ connection: Connection) -> ChannelKey {
        ChannelKey(appKey: connection.app.key, name: name)
    }

    func send(_ frame: String, to receivers: [ConnectionID], into effects: inout [Effect]) {
        for receiver in receivers { effects.append(.send(frame, to: receiver)) }
    }
}
