import PusherChannels

/// What a subscription of protocol V2 asks for besides the channel.
struct SockudoOptions: Sendable {
    enum Rewind: Sendable {
        case count(Int)
        case seconds(Int)
    }

    var rewind: Rewind?
    var events: Set<Name>?
    /// A tree of conditions on tags, which was checked.
    var tags: JSONValue?

    /// Returns whether the subscription gets an event.
    func admits(_ event: SockudoEvent) -> Bool {
        if let events, !events.contains(Name(event.name)) { return false }
        return tags.map { Self.holds($0, for: event.more.tags) } ?? true
    }

    private static func holds(_ node: JSONValue, for tags: JSONValue?) -> Bool {
        let nodes = node["nodes"]?.arrayValue ?? []
        if let operation = node["op"]?.stringValue {
            switch Name(operation) {
            case "and": return nodes.allSatisfy { holds($0, for: tags) }
            case "or": return nodes.contains { holds($0, for: tags) }
            default: return !nodes.contains { holds($0, for: tags) }
            }
        }
        let value = tags?[node["key"]?.stringValue ?? ""]?.identifier
        let operand = node["val"]?.identifier ?? ""
        let isAmong = node["vals"]?.arrayValue?.contains { one in value.map { one.identifier?.hasBytes(of: $0) == true } ?? false
        }
        let comparison = Name(node["cmp"]?.stringValue ?? "")
        switch comparison {
        case "ex": return value != nil
        case "nex": return value == nil
        case "neq": return value?.hasBytes(of: operand) != true
        case "in": return isAmong == true
        case "nin": return isAmong != true
        default: break
        }
        guard let value else { return false }
        switch comparison {
        case "eq": return value.hasBytes(of: operand)
        case "sw": return value.utf8.starts(with: operand.utf8)
        case "ew": return value.utf8.reversed().starts(with: operand.utf8.reversed())
        case "ct": return operand.isEmpty || value.utf8.firstRange(of: operand.utf8) != nil
        default: break
        }
        guard let number = Double(value), let limit = Double(operand) else { return false }
        switch comparison {
        case "gt": return number > limit
        case "gte": return number >= limit
        case "lt": return number < limit
        default: return number <= limit
        }
    }

    /// Returns what is wrong with a tree of conditions, in the server's words; nil if nothing is.
    fileprivate static func problem(_ node: JSONValue) -> String? {
        let nodes = node["nodes"]?.arrayValue ?? []
        if let operation = node["op"]?.stringValue {
            if Name(operation) == "not", nodes.count != 1 {
                return "not operation requires exactly one child node, got \(nodes.count)"
            }
            if nodes.isEmpty { return "\(operation) operation requires at least one child node" }
            return nodes.enumerated().lazy.compactMap { index, node in problem(node).map { "Child node \(index): \($0)" } }.first
        }
        if node["key"]?.stringValue?.isEmpty != false { return "Leaf node requires a non-empty key" }
        guard let comparison = node["cmp"]?.stringValue else { return "Leaf node requires a comparison operator" }
        switch Name(comparison) {
        case "ex", "nex": return nil
        case "in", "nin":
            return node["vals"]?.arrayValue?.isEmpty == false
                ? nil : "\(comparison) operation requires at least one value in vals"
        default: return node["val"]?.identifier?.isEmpty == false ? nil : "\(comparison) operation requires a non-empty val"
        }
    }
}

extension ServerMachine {
    /// Reads what a subscription asks for besides the channel. Refuses what the server can't do, and returns nil then.
    mutating func sockudoOptions(_ data: JSONValue?, of channel: String, from id: ConnectionID) -> SockudoOptions? {
        var options = SockudoOptions()
        guard let settings = profile.sockudoV2 else { return options }
        func refuse(_ problem: String, code: Int) -> SockudoOptions? {
            reject(problem, code: code, from: id)
            return nil
        }
        let invalid = "Invalid message format: "
        if let filter = data?["filter"] ?? data?["tags_filter"], filter != .null {
            if filter["expression"] != nil {
                return refuse(invalid + "Invalid subscription filter: this server evaluates no expressions", code: 4000)
            }
            let events = filter["events"]?.arrayValue
            options.events = events.flatMap { $0.isEmpty ? nil : Set($0.compactMap { $0.stringValue.map { Name($0) } }) }
            if events?.count ?? 0 > 50 { return refuse(invalid + "filter.events exceeds maximum of 50 event names", code: 4000) }
            options.tags = events == nil ? filter : filter["tags"].flatMap { $0 == .null ? nil : $0 }
            if let tags = options.tags, let problem = SockudoOptions.problem(tags) {
                return refuse(invalid + "Invalid tags filter: " + problem, code: 4000)
            }
        }
        if let rewind = data?["rewind"] {
            let seconds = rewind["count"] == nil ? rewind["seconds"] ?? rewind["duration_seconds"] : nil
            guard let number = (seconds ?? rewind["count"] ?? rewind).integerValue, number > 0 else {
                return refuse(invalid + "Invalid rewind option in subscription data", code: 4000)
            }
            if connections[id]?.sockudo == nil {
                return refuse("Channel error: Channel rewind is only supported on protocol V2", code: 4300)
            }
            guard settings.historyLength != nil, settings.rewinds else {
                let problem = "Channel error: Channel rewind is disabled by policy for channel '\(channel.shortened)'"
                return refuse(problem, code: 4300)
            }
            options.rewind = seconds == nil ? .count(number) : .seconds(number)
        }
        return options
    }

    /// Sends the past that a subscription asked for, after its success.
    mutating func sendPast(of key: ChannelKey, to id: ConnectionID) {
        guard let settings = profile.sockudoV2, let options = connections[id]?.sockudo?.options[key.name],
            let rewind = options.rewind
        else { return }
        connections[id]?.sockudo?.options[key.name]?.rewind = nil
        let entries = view(of: key, for: id, settings).stored
        let past: ArraySlice<SockudoStream.Entry>
        var (hasMore, isBeforeOldest) = (false, false)
        switch rewind {
        case .count(let count):
            past = entries.suffix(min(count, settings.pageLength))
            hasMore = past.count < entries.count
            isBeforeOldest = !hasMore && past.count < count && (entries.first?.serial ?? 1) > 1
        case .seconds(let seconds):
            let window = entries.drop { now - $0.time > .seconds(seconds) }
            // The oldest page, as the real server does.
            past = window.prefix(settings.pageLength)
            isBeforeOldest = window.count == entries.count && !entries.isEmpty
            hasMore = past.count < window.count || isBeforeOldest
        }
        let shown = past.filter { options.admits($0.event) }
        for entry in shown { effects.append(.send(entry.frame, to: id)) }
        let answer: JSONValue = [
            "historical_count": .integer(shown.count), "live_count": 0, "complete": .bool(!hasMore && !isBeforeOldest),
            "truncated_by_limit": .bool(hasMore), "truncated_by_retention": .bool(isBeforeOldest),
        ]
        effects.append(.send(ServerFrame.event("pusher:rewind_complete", channel: key.name.text, value: answer), to: id))
    }

    // MARK: Subscribing

    /// Returns whether a success is to be sent later.
    mutating func delaysSuccess(of channel: Name, to id: ConnectionID) -> Bool {
        guard let delay = profile.sockudoV2?.successDelay, delay > .zero, connections[id]?.sockudo != nil else { return false }
        connections[id]?.sockudo?.successes[channel] = now + delay
        needsTime(by: now + delay)
        return true
    }

    func awaitsSuccess(of channel: Name, _ id: ConnectionID) -> Bool { connections[id]?.sockudo?.successes[channel] != nil }

    /// Sends a success that is due, or that another request follows, and the event that its channel keeps.
    mutating func sendSuccess(of channel: Name, to id: ConnectionID) {
        guard let connection = connections[id], connections[id]?.sockudo?.successes.removeValue(forKey: channel) != nil else {
            return
        }
        let name = ChannelName(channel.text)
        guard tellSuccess(of: name, to: id, isLate: true), caches(name) else { return }
        sendCache(of: key(of: channel, connection), to: id, app: connection.app)
    }

    /// Adds the channel's position to a success.
    mutating func withPosition(_ success: String, of key: ChannelKey, to id: ConnectionID, members: JSONValue?) -> String {
        guard let settings = profile.sockudoV2, connections[id]?.sockudo != nil else { return success }
        let view = view(of: key, for: id, settings)
        var data: [Name: JSONValue] = [:]
        data["presence"] = members
        if settings.historyLength != nil { data["attach_serial"] = .integer(view.storedHead) }
        let own = ServerFrame.event(
            "pusher_internal:subscription_succeeded", channel: key.name.text, data: JSONValue.object(data).text)
        guard settings.replays else { return own }
        streams[streamKey(key, on: view.node, settings)]?.isBuffered = true
        connections[id]?.sockudo?.replayed[key.name] = nil
        if settings.historyLength == nil { connections[id]?.sockudo?.joins[key.name] = now + settings.joinDelay }
        let name = settings.namesOtherStreams ? uuid() : view.stream.id
        return own.adding(",\"stream_id\":\"\(name)\",\"serial\":\(view.head)")
    }

    // MARK: The history

    /// Sends a page of a channel's history.
    mutating func sendHistory(_ data: JSONValue?, from id: ConnectionID) {
        guard let data = data?.stringValue.flatMap({ try? JSONValue(parsing: $0) }), let channel = data["channel"]?.stringValue
        else {
            let problem = "Invalid message format: Missing data in channel_history message"
            return reject(problem, code: 4000, from: id)
        }
        guard let settings = profile.sockudoV2, settings.historyLength != nil else {
            let problem = "Channel error: Durable history is disabled by policy for channel '\(channel.shortened)'"
            return reject(problem, code: 4300, from: id)
        }
        guard let connection = connections[id], connection.subscriptions[channel] != nil else {
            let socket = connections[id]?.socketID ?? ""
            let problem = "Client event error: Socket \(socket) is not subscribed to channel \(channel.shortened)"
            return reject(problem, code: 4301, from: id)
        }
        guard data["until_attach"]?.boolValue != true else {
            let problem = "No attach_serial is recorded for channel '\(channel.shortened)'"
            return reject("Invalid message format: \(problem)", code: 4000, from: id)
        }
        let view = view(of: key(of: Name(channel), connection), for: id, settings)
        let (stream, stored) = (view.stream, view.stored)
        let isForward = data["direction"]?.stringValue.map { ["oldest_first", "forwards"].contains(Name($0)) } ?? false
        let limit = min(max(data["limit"]?.integerValue ?? settings.pageLength, 1), settings.pageLength)
        let first = data["start_serial"]?.integerValue ?? 0
        let end = data["end_serial"]?.integerValue ?? .max
        let cursor = data["cursor"]?.integerValue
        var rest = stored.filter { $0.serial >= first && $0.serial <= end }
        if !isForward { rest.reverse() }
        if let cursor { rest.removeAll { isForward ? $0.serial <= cursor : $0.serial >= cursor } }
        let page = rest.prefix(limit)
        let items = page.map { entry -> JSONValue in
            [
                "stream_id": .string(stream.id), "serial": .integer(entry.serial), "event_name": .string(entry.event.name),
                "operation_kind": "append", "payload_size_bytes": .integer(entry.frame.utf8.count),
                "message": (try? JSONValue(parsing: entry.frame)) ?? .null, "message_id": .string(entry.messageID),
                "published_at_ms": .integer(entry.milliseconds),
            ]
        }
        let oldest = stored.first?.serial ?? 0
        let isTruncated = view.oldestStored > max(first, 1)
        let hasMore = rest.count > page.count
        let answer: JSONValue = [
            "items": .array(items), "direction": isForward ? "oldest_first" : "newest_first", "limit": .integer(limit),
            "has_more": .bool(hasMore), "next_cursor": hasMore ? (page.last.map { .string(String($0.serial)) } ?? .null) : .null,
            "bounds": [
                "start_serial": data["start_serial"] ?? .null, "end_serial": data["end_serial"] ?? .null,
                "start_time_ms": .null, "end_time_ms": .null, "attach_serial": .null, "until_attach": false,
            ],
            "continuity": [
                "stream_id": .string(stream.id), "oldest_available_serial": .integer(oldest),
                "newest_available_serial": .integer(view.storedHead), "complete": .bool(!isTruncated && !hasMore),
                "truncated_by_retention": .bool(isTruncated), "retained_messages": .integer(stored.count),
                "retained_bytes": .integer(stored.reduce(0) { $0 + $1.frame.utf8.count }),
                "oldest_available_published_at_ms": stored.first.map { .integer($0.milliseconds) } ?? .null,
                "newest_available_published_at_ms": stored.last.map { .integer($0.milliseconds) } ?? .null,
            ],
            "stream_state": [
                "stream_id": .string(stream.id), "durable_state": "healthy", "recovery_allowed": true, "reset_required": false,
                "observed_source": "in_memory", "authoritative_source": "in_memory", "reason": .null, "node_id": .null,
                "last_transition_at_ms": .null,
            ],
        ]
        effects.append(.send(ServerFrame.event("pusher:channel_history", channel: channel, value: answer), to: id))
    }
}

extension SockudoStream.Entry {
    /// The time of the publish as the server tells it.
    fileprivate var milliseconds: Int { Int((time - .origin) / .milliseconds(1)) }
}
