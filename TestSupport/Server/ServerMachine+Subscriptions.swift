import PusherChannels

extension ServerMachine {
    /// The reason for refusing a subscription, as its `pusher:subscription_error` says.
    struct SubscriptionRefusal: Error {
        enum Kind: String {
            case unauthorized = "AuthError"
            case invalidChannel = "InvalidChannel"
            case limitReached = "LimitReached"
        }

        /// The occasion, for the profile's own answer; `nil` if it has none.
        var occasion: ServerProfile.Occasion?
        var kind = Kind.unauthorized
        let message: String
        var status = 401
    }

    private struct Member {
        let id: Name
        /// The id as others are told it.
        let value: JSONValue
        let info: JSONValue?
    }

    mutating func subscribe(_ data: JSONValue?, from id: ConnectionID) {
        guard let connection = connections[id] else { return }
        var data = data
        if let text = data?.stringValue, profile.accepts(.subscriptionDataAsText) { data = try? JSONValue(parsing: text) }
        guard let name = data?["channel"]?.stringValue else {
            let occasion: ServerProfile.Occasion =
                data == nil ? .noSubscriptionData : data?.stringValue == nil ? .noChannel : .subscriptionDataAsText
            return refuse(occasion, "Subscribe without a channel", from: id)
        }
        let channel = ChannelName(name)
        if connection.subscriptions[channel.name] != nil {
            let occasion: ServerProfile.Occasion = channel.kind == .presence ? .presentAlready : .subscribedAlready
            guard profile.accepts(occasion) else {
                return refuse(occasion, "Existing subscription to channel \(name)", channel: name, from: id)
            }
        }
        guard let options = sockudoOptions(data, of: name, from: id) else { return }
        do throws(SubscriptionRefusal) {
            let member = try admit(data, to: channel, from: connection)
            connections[id]?.sockudo?.options[channel.name] = options
            if connection.subscriptions[channel.name] == nil {
                join(channel, id, as: member)
            } else {
                sendSuccess(of: channel.name, to: id)
                _ = tellSuccess(of: channel, to: id)
            }
        } catch {
            let auth = data?["auth"]?.stringValue?.shortened ?? ""
            let words = ["reason": error.message, "auth": auth]
            if !answer(error.occasion, channel: name, words: words, to: id) {
                effects.append(.send(profile.subscriptionRefused(channel, error), to: id))
            }
            effects.append(.notice(.subscriptionRefused(id, channel: name, reason: error.message)))
            observe(.refused, appKey: connection.app.key, by: id, channel: channel.name, text: error.message)
        }
    }

    mutating func unsubscribe(_ data: JSONValue?, from id: ConnectionID) {
        guard let name = data?["channel"]?.stringValue else {
            return refuse(.noChannel, "Unsubscribe without a channel", from: id)
        }
        sendSuccess(of: Name(name), to: id)
        guard let connection = connections[id], connection.subscriptions[name] != nil else {
            let isAnybodyThere = connections[id].map { channels[key(of: Name(name), $0)] != nil } ?? false
            let message = "No current subscription to channel \(name.shortened)"
            return refuse(
                isAnybodyThere ? .notSubscribed : .nobodySubscribed, message, channel: name, from: id)
        }
        leave(Name(name), id)
    }

    // MARK: Admission

    private func admit(
        _ data: JSONValue?, to channel: ChannelName, from connection: Connection
    ) throws(SubscriptionRefusal) -> Member? {
        if ServerUser.isUserChannel(channel.text) {
            let isOpenToAll = profile.accepts(.userChannel) && channel.text.isShort
            guard connection.user?.channel == channel.name || isOpenToAll else {
                throw SubscriptionRefusal(
                    occasion: .userChannel, message: "Only the user signed in may subscribe to \(channel.text.shortened)")
            }
            return nil
        }
        if channel.problem(profile.channelLimits) != nil {
            let occasion = channel.nameOccasion(profile.channelLimits)
            guard profile.accepts(occasion), channel.text.isShort else {
                throw SubscriptionRefusal(
                    occasion: profile.accepts(occasion) ? nil : occasion, kind: .invalidChannel,
                    message: "Invalid channel name: \(channel.text.shortened)",
                    status: 400)
            }
        }
        guard channel.needsAuthorization else { return nil }
        let isPresence = channel.kind == .presence
        if isPresence, channel.isCache, profile.answer(.presenceCache) != nil {
            throw SubscriptionRefusal(occasion: .presenceCache, message: "There are no cache channels with presence")
        }
        let channelData = data?["channel_data"]?.stringValue
        if isPresence, channelData == nil, profile.answers[.noChannelData] != nil {
            throw SubscriptionRefusal(occasion: .noChannelData, message: "Invalid channel_data: presence channels need one")
        }
        if checksSignatures(of: connection.app) {
            let problem = signatureProblem(
                data?["auth"]?.stringValue, channel: channel.text, channelData: isPresence ? channelData : nil,
                connection: connection)
            if let problem { throw problem }
        }
        return isPresence ? try member(channelData, of: channel, connection) : nil
    }

    private func member(
        _ channelData: String?, of channel: ChannelName, _ connection: Connection
    ) throws(SubscriptionRefusal) -> Member? {
        let member = channelData.flatMap { try? JSONValue(parsing: $0) }
        let stranger = member != nil && profile.accepts(.noUser) ? "null" : nil
        guard let userID = member?["user_id"]?.identifier ?? stranger, !userID.isEmpty else {
            if admission == .anyKey(secret: nil) { return nil }
            let occasion: ServerProfile.Occasion =
                channelData == nil ? .noChannelData : member == nil ? .unreadableChannelData : .noUser
            throw SubscriptionRefusal(occasion: occasion, message: "Invalid channel_data: presence channels need a user_id")
        }
        if case .number = member?["user_id"], profile.answers[.numericUserID] ?? .success != .success {
            throw SubscriptionRefusal(occasion: .numericUserID, message: "Invalid channel_data: a user_id is text")
        }
        let info = member?["user_info"]
        guard userID.unicodeScalars.count <= profile.maximumUserIDLength else {
            throw SubscriptionRefusal(
                occasion: .memberLimit, kind: .limitReached,
                message: "A user_id can't be longer than \(profile.maximumUserIDLength) characters",
                status: 4301)
        }
        guard (info?.text.utf8.count ?? 0) <= profile.maximumUserInfoLength else {
            throw SubscriptionRefusal(
                occasion: .memberLimit, kind: .limitReached,
                message: "A user_info can't be longer than \(profile.maximumUserInfoLength) bytes",
                status: 4301)
        }
        let id = Name(userID)
        let present = channels[key(of: channel.name, connection)]
        if let present, present.members[id] == nil, present.memberIDs.count >= profile.maximumPresenceMembers {
            throw SubscriptionRefusal(
                occasion: .memberLimit, kind: .limitReached,
                message: "The maximum members per presence channel limit was reached", status: 4100)
        }
        let value = profile.keepsNumericIDs ? member?["user_id"] : nil
        return Member(id: id, value: value ?? .string(userID), info: info)
    }

    // MARK: Joining and leaving

    private mutating func join(
        _ name: ChannelName, _ id: ConnectionID, as member: Member?
    ) {
        guard let connection = connections[id] else { return }
        let key = key(of: name.name, connection)
        var channel = channels[key] ?? ServerChannel()
        let others = channel.subscribers
        if others.isEmpty { tellBackend(WebhookEvent(.channelOccupied, channel: name.name), of: connection.app) }
        let isFirst = member.map { channel.join($0.id, as: $0.value, info: $0.info) } ?? false
        channel.add(id)
        channels[key] = channel
        if profile.keepsEmptyChannels { knownChannels.insert(key) }
        connections[id]?.subscriptions[name.name] = .some(member?.id)
        if name.needsAuthorization { connections[id]?.isAuthorized = true }
        observe(.subscribed, appKey: connection.app.key, by: id, channel: name.name, text: member?.id.text)
        if others.isEmpty {
            observation?.occupied(key)
            observe(.occupied, appKey: connection.app.key, channel: name.name)
        }

        var added: String?
        if isFirst || profile.memberChanges == .ofConnections, let member {
            var data: [Name: JSONValue] = ["user_id": member.value]
            data["user_info"] = member.info ?? profile.missingInfo.told.value
            added = ServerFrame.event("pusher_internal:member_added", channel: name.text, data: JSONValue.object(data).text)
        }
        if profile.tellsMembersFirst, let added { send(added, to: others) }
        guard tellSuccess(of: name, to: id) else { return }
        effects.append(.notice(.subscribed(id, channel: name.text, userID: member?.id.text)))
        if let added, let member {
            if !profile.tellsMembersFirst { send(added, to: others) }
            let event = WebhookEvent(.memberAdded, channel: name.name, userID: member.id)
            tellBackend(event, of: connection.app)
        }
        if caches(name), !awaitsSuccess(of: name.name, id) { sendCache(of: key, to: id, app: connection.app) }
        announceCount(of: key, app: connection.app)
    }

    /// Tells a connection that it is subscribed, also one that was before. Returns false if the server breaks down instead.
    mutating func tellSuccess(of name: ChannelName, to id: ConnectionID, isLate: Bool = false) -> Bool {
        guard let connection = connections[id] else { return false }
        let key = key(of: name.name, connection)
        let channel = channels[key]
        if name.kind == .presence, profile.membersWithoutInfo == .breakTheirChannel, channel?.hasMemberWithoutInfo == true {
            reject("Invalid message format", code: 4200, from: id)
            return false
        }
        if !isLate, delaysSuccess(of: name.name, to: id) { return true }
        let members = name.kind == .presence ? channel?.presence(profile) : nil
        let success = profile.subscriptionSucceeded(name, members: members)
        effects.append(.send(withPosition(success, of: key, to: id, members: members), to: id))
        sendPast(of: key, to: id)
        return true
    }

    mutating func leave(_ name: Name, _ id: ConnectionID) {
        guard let connection = connections[id], let userID = connection.subscriptions[name] else { return }
        let key = key(of: name, connection)
        let member = userID.flatMap { channels[key]?.members[$0] }
        connections[id]?.subscriptions[name] = nil
        connections[id]?.sockudo?.options[name] = nil
        connections[id]?.sockudo?.successes[name] = nil
        channels[key]?.remove(id)
        let isLast = userID.map { channels[key]?.leave($0) ?? false } ?? false
        let others = channels[key]?.subscribers ?? []
        observe(.unsubscribed, appKey: connection.app.key, by: id, channel: name, text: userID?.text)
        if others.isEmpty {
            channels[key] = nil
            knownChannels.remove(key)
            observation?.vacated(key)
            observe(.vacated, appKey: connection.app.key, channel: name)
        }
        effects.append(.notice(.unsubscribed(id, channel: name.text)))
        if isLast || profile.memberChanges != .ofUsers, let userID {
            var data: [Name: JSONValue] = ["user_id": member?.value ?? .string(userID.text)]
            if profile.describesLeavers { data["user_info"] = member?.info }
            let frame = ServerFrame.event(
                "pusher_internal:member_removed", channel: name.text, data: JSONValue.object(data).text)
            send(frame, to: profile.tellsLeavers ? others + [id] : others)
            let event = WebhookEvent(.memberRemoved, channel: name, userID: userID)
            tellBackend(event, of: connection.app)
        }
        if others.isEmpty { tellBackend(WebhookEvent(.channelVacated, channel: name), of: connection.app) }
        announceCount(of: key, app: connection.app)
    }

    func key(of name: Name, _ connection: Connection) -> ChannelKey {
        ChannelKey(appKey: connection.app.key, name: name)
    }

    mutating func send(_ frame: String, to receivers: [ConnectionID]) {
        for receiver in receivers { effects.append(.send(frame, to: receiver)) }
    }
}

extension ChannelName {
    /// The characters that names can't have, in apostrophes.
    var wrongCharacters: String {
        text.unicodeScalars.filter { ChannelName(String($0)).problem(ProtocolLimits()) != nil }.map { "'\($0)'" }
            .joined(separator: ", ")
    }

    /// The occasion on which a name that isn't valid is refused.
    func nameOccasion(_ limits: ProtocolLimits) -> ServerProfile.Occasion {
        if text.isEmpty { return .emptyName }
        if text.begins(with: "#") { return .reservedName }
        return text.unicodeScalars.count > limits.channelNameLength ?? .max ? .longName : .invalidName
    }
}
