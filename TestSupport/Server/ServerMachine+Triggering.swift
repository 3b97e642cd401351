import PusherChannels

extension ServerMachine {
    /// An event to publish.
    struct Trigger {
        let name: String
        let data: String
        /// Indicates whether the data is JSON, not text.
        var isValue = false
        let channels: [String]
        var socketID: String?
        var info: String?
        /// What only subscribers of Sockudo's protocol V2 get.
        var more = SockudoEvent.More()
    }

    /// `POST /apps/{id}/events`
    mutating func trigger(
        _ body: JSONValue, key: String?, app: ServerApp
    ) throws(HTTPRefusal) -> JSONValue {
        try once(body["idempotency_key"]?.stringValue ?? key, app: app) { machine throws(HTTPRefusal) in
            let trigger = try machine.read(body)
            machine.run(trigger, app: app)
            guard trigger.info != nil, !machine.profile.publishedAttributes.isEmpty else { return [:] }
            let told = trigger.channels.map { ($0, machine.description(trigger, of: $0, app: app)) }
            return .object(["channels": JSONValue(members: told)])
        }
    }

    /// `POST /apps/{id}/batch_events`
    mutating func triggerBatch(
        _ body: JSONValue, key: String?, app: ServerApp
    ) throws(HTTPRefusal) -> JSONValue {
        guard let batch = body["batch"]?.arrayValue else {
            throw HTTPRefusal(occasion: .unreadableBody, status: 400, reason: "Missing: batch, a list of events")
        }
        guard batch.count <= profile.maximumBatchLength else {
            throw HTTPRefusal(
                occasion: .batch, status: 400, reason: "Batch too large (\(batch.count) > \(profile.maximumBatchLength))")
        }
        if batch.isEmpty, profile.answers[.emptyBatch] != nil {
            throw HTTPRefusal(occasion: .emptyBatch, status: 400, reason: "An empty batch")
        }
        for event in batch { try checkPublishKey(event["idempotency_key"]?.stringValue) }
        return try once(key, isBatch: true, app: app) { machine throws(HTTPRefusal) in try machine.runBatch(batch, app: app) }
    }

    private mutating func runBatch(_ batch: [JSONValue], app: ServerApp) throws(HTTPRefusal) -> JSONValue {
        // Nothing is sent unless everything can be, except by a server that stops at the first event it refuses.
        if !profile.publishesBatchesInPart {
            for event in batch { _ = try readOfBatch(event) }
        }
        for event in batch {
            _ = try once(event["idempotency_key"]?.stringValue, app: app) { machine throws(HTTPRefusal) in
                machine.run(try machine.readOfBatch(event), app: app)
                return [:]
            }
        }
        let triggers = batch.compactMap { try? readOfBatch($0) }
        guard triggers.contains(where: { $0.info != nil }), !profile.publishedAttributes.isEmpty else { return [:] }
        return .object([
            "batch": .array(
                triggers.compactMap { trigger in
                    trigger.channels.first.map { description(trigger, of: $0, app: app) }
                })
        ])
    }

    private func readOfBatch(_ event: JSONValue) throws(HTTPRefusal) -> Trigger {
        guard event["channels"] == nil else {
            throw HTTPRefusal(
                occasion: .noChannels, status: 400,
                reason: "Missing: channel, a name; an event of a batch has one, and no channels")
        }
        return try read(event)
    }

    /// Returns what a publish says about a channel.
    private func description(_ trigger: Trigger, of channel: String, app: ServerApp) -> JSONValue {
        var members = attributes(trigger.info, of: channel, app: app, in: profile.publishedAttributes).objectValue ?? [:]
        if trigger.info != nil, profile.acknowledgesEvents {
            members["acknowledgement_id"] = "00000000-0000-4000-8000-000000000000"
        }
        return .object(members)
    }

    private mutating func run(_ trigger: Trigger, app: ServerApp) {
        for channel in trigger.channels {
            passOn(
                trigger.name, channel: channel, data: trigger.data, isValue: trigger.isValue, more: trigger.more, app: app,
                excluding: trigger.socketID)
        }
    }

    private func read(_ body: JSONValue) throws(HTTPRefusal) -> Trigger {
        guard let name = body["name"]?.stringValue ?? (profile.accepts(.noName) ? "" : nil) else {
            throw HTTPRefusal(occasion: .noName, status: 400, reason: "Missing: name, a string")
        }
        let (data, isValue) = try publishedData(body["data"])
        let named = body["channels"]?.arrayValue ?? body["channel"].map { [$0] } ?? []
        let channels = named.compactMap(\.stringValue)
        guard !channels.isEmpty || profile.accepts(.noChannels), channels.count == named.count else {
            throw HTTPRefusal(
                occasion: .noChannels, status: 400, reason: "Missing: channels, a list of names, or channel, a name")
        }
        let trigger = Trigger(
            name: name, data: data, isValue: isValue, channels: channels, socketID: body["socket_id"]?.stringValue,
            info: body["info"]?.stringValue, more: SockudoEvent.More(tags: body["tags"], extras: body["extras"]))
        if let socketID = trigger.socketID, profile.answer(.invalidSocketID) != nil, socketID.wholeMatch(of: #/\d+\.\d+/#) == nil
        {
            throw HTTPRefusal(occasion: .invalidSocketID, status: 400, reason: "Invalid socket_id: \(socketID)")
        }
        try check(trigger)
        return trigger
    }

    /// Returns an event's data as the subscribers get it, and whether it is JSON, not text.
    func publishedData(_ data: JSONValue?) throws(HTTPRefusal) -> (String, isValue: Bool) {
        if let text = data?.stringValue {
            if text.isEmpty, profile.answer(.emptyData) != nil {
                throw HTTPRefusal(occasion: .emptyData, status: 400, reason: "Missing: data, a string")
            }
            let isEncoded = profile.encodesPlainText && (try? JSONValue(parsing: text)) == nil
            return (isEncoded ? text.quotedJSON : text, false)
        }
        let occasion: ServerProfile.Occasion = data == nil ? .noData : .dataNotText
        guard profile.accepts(occasion) else {
            throw HTTPRefusal(occasion: occasion, status: 400, reason: "Missing: data, a string")
        }
        return ((data ?? .null).text, profile.sendsPublishedValues)
    }

    /// Checks the limits that apply to every event.
    func check(_ trigger: Trigger) throws(HTTPRefusal) {
        let nameLength = trigger.name.unicodeScalars.count
        guard nameLength > 0 || profile.accepts(.noName), nameLength <= profile.maximumEventNameLength else {
            throw HTTPRefusal(
                occasion: nameLength == 0 ? .noName : .longEventName, status: 400,
                reason: "Missing: name, a string of at most \(profile.maximumEventNameLength) characters",
                words: ["event": trigger.name])
        }
        guard trigger.data.utf8.count <= profile.maximumEventDataLength else {
            throw HTTPRefusal(
                occasion: .largeData, status: 413,
                reason: "The data of event \(trigger.name) is longer than \(profile.maximumEventDataLength) bytes")
        }
        guard trigger.channels.count <= profile.maximumChannelsPerTrigger else {
            throw HTTPRefusal(
                occasion: .manyChannels, status: 400, reason: "At most \(profile.maximumChannelsPerTrigger) channels")
        }
        for channel in trigger.channels {
            if ServerUser.isUserChannel(channel) {
                guard profile.answer(.eventForUser) != nil else { continue }
                throw HTTPRefusal(occasion: .eventForUser, status: 400, reason: "There are no users")
            }
            guard ChannelName(channel).problem(profile.channelLimits) == nil || profile.accepts(.invalidChannel) else {
                throw HTTPRefusal(
                    occasion: .invalidChannel, status: 400, reason: "Invalid channel name: \(channel)",
                    words: ["channel": channel, "wrong": ChannelName(channel).wrongCharacters])
            }
        }
    }
}
