import PusherChannels

extension ServerMachine {
    /// An event to publish.
    struct Trigger {
        let name: String
        let data: String
        let channels: [String]
        var socketID: String?
        var info: String?
    }

    /// `POST /apps/{id}/events`
    mutating func trigger(
        _ body: JSONValue, app: ServerApp, into effects: inout [Effect]
    ) throws(HTTPRefusal) -> JSONValue {
        let trigger = try read(body)
        run(trigger, app: app, into: &effects)
        guard let info = trigger.info else { return [:] }
        let described = trigger.channels.map { ($0, attributes(info, of: $0, app: app)) }
        return .object(["channels": JSONValue(members: described)])
    }

    /// `POST /apps/{id}/batch_events`
    mutating func triggerBatch(
        _ body: JSONValue, app: ServerApp, into effects: inout [Effect]
    ) throws(HTTPRefusal) -> JSONValue {
        guard let batch = body["batch"]?.arrayValue else {
            throw HTTPRefusal(status: 400, reason: "Missing: batch, a list of events")
        }
        guard batch.count <= profile.maximumBatchLength else {
            throw HTTPRefusal(status: 400, reason: "Batch too large (\(batch.count) > \(profile.maximumBatchLength))")
        }
        // Nothing is sent unless everything can be.
        var triggers: [Trigger] = []
        for event in batch {
            guard event["channels"] == nil else {
                throw HTTPRefusal(status: 400, reason: "Missing: channel, a name; an event of a batch has one, and no channels")
            }
            triggers.append(try read(event))
        }
        for trigger in triggers { run(trigger, app: app, into: &effects) }
        guard triggers.contains(where: { $0.info != nil }) else { return [:] }
        let described = triggers.map { attributes($0.info, of: $0.channels[0], app: app) }
        return .object(["batch": .array(described)])
    }

    private mutating func run(_ trigger: Trigger, app: ServerApp, into effects: inout [Effect]) {
        for channel in trigger.channels {
            passOn(
                trigger.name, channel: channel, data: trigger.data, app: app, excluding: trigger.socketID, into: &effects)
        }
    }

    private func read(_ body: JSONValue) throws(HTTPRefusal) -> Trigger {
        guard let name = body["name"]?.stringValue else { throw HTTPRefusal(status: 400, reason: "Missing: name, a string") }
        guard let data = body["data"]?.stringValue else {
            throw HTTPRefusal(status: 400, reason: "Missing: data, a string")
        }
        let named = body["channels"]?.arrayValue ?? body["channel"].map { [$0] } ?? []
        let channels = named.compactMap(\.stringValue)
        guard !channels.isEmpty, channels.count == named.count else {
            throw HTTPRefusal(status: 400, reason: "Missing: channels, a list of names, or channel, a name")
        }
        let trigger = Trigger(
            name: name, data: data, channels: channels, socketID: body["socket_id"]?.stringValue,
            info: body["info"]?.stringValue)
        try check(trigger)
        return trigger
    }

    /// Checks the limits that apply to every event.
    func check(_ trigger: Trigger) throws(HTTPRefusal) {
        guard !trigger.name.isEmpty, trigger.name.unicodeScalars.count <= profile.maximumEventNameLength else {
            throw HTTPRefusal(
                status: 400, reason: "Missing: name, a string of at most \(profile.maximumEventNameLength) characters")
        }
        guard trigger.data.utf8.count <= profile.maximumEventDataLength else {
            throw HTTPRefusal(
                status: 413, reason: "The data of event \(trigger.name) is longer than \(profile.maximumEventDataLength) bytes")
        }
        guard trigger.channels.count <= profile.maximumChannelsPerTrigger else {
            throw HTTPRefusal(status: 400, reason: "At most \(profile.maximumChannelsPerTrigger) channels")
        }
        for channel in trigger.channels where !ServerUser.isUserChannel(channel) {
            guard ChannelName(channel).problem(profile.channelLimits) == nil else {
                throw HTTPRefusal(status: 400, reason: "Invalid channel name: \(channel)")
            }
        }
    }
}
