import PusherChannels

/// Sockudo's protocol V2. Connections of both protocols share channels; only those of V2 see positions.
extension ServerMachine {
    typealias Settings = ServerProfile.SockudoV2

    /// Returns what a connection has for protocol V2 if it asks for it.
    func sockudoConnection(_ parameters: [Name: String]) -> SockudoConnection? {
        guard profile.sockudoV2 != nil, parameters["protocol"].map({ Name($0) }) == "2" else { return nil }
        return SockudoConnection(getsOwnEvents: parameters["echo_messages"].map { Name($0) } != "false")
    }

    /// Forgets the streams of channels, as a restart does; those of all channels unless one is named.
    package mutating func loseStreams(of channel: String? = nil) {
        streams = streams.filter { key, _ in channel.map { key.channel.name != Name($0) } ?? false }
    }

    /// Returns an event's name under protocol 7's prefix: V2 connections use either.
    func pusherName(_ event: String, from id: ConnectionID) -> String {
        guard connections[id]?.sockudo != nil, event.begins(with: "sockudo:") else { return event }
        return "pusher:" + event.utf8.dropFirst("sockudo:".utf8.count).text
    }

    /// Gives the frames for connections of V2 its prefixes and message ids. Frames that have them stay as they are.
    mutating func speakSockudo(from start: Int) {
        guard profile.sockudoV2 != nil else { return }
        for index in effects.indices.dropFirst(start) {
            guard case .send(let frame, let id) = effects[index], connections[id]?.sockudo != nil else { continue }
            let isOwn = ["{\"event\":\"pusher:", "{\"event\":\"pusher_internal:"].contains { frame.begins(with: $0) }
            let prefix = "{\"event\":\"pusher"
            let own = isOwn ? "{\"event\":\"sockudo" + frame.utf8.dropFirst(prefix.utf8.count).text : frame
            let isPlain = ["{\"event\":\"sockudo:pong", "{\"event\":\"sockudo_internal:member_"].contains { own.begins(with: $0) }
            let isDone = isPlain || !isOwn && own.contains("\"message_id\":")
            effects[index] = .send(isDone ? own : withID(own), to: id)
        }
    }

    private mutating func withID(_ frame: String) -> String { frame.adding(",\"message_id\":\"\(uuid())\"") }

    mutating func uuid() -> String {
        let text = String(generator.next() | 1 << 63, radix: 16) + String(generator.next() | 1 << 63, radix: 16)
        let digits = Array(text.utf8)
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { digits[$0].text }.joined(separator: "-")
    }

    /// The node that a connection is on.
    private func node(of id: ConnectionID) -> Int { id.number % max(profile.sockudoV2?.nodes ?? 1, 1) }

    private mutating func stream(of key: StreamKey) -> SockudoStream {
        if let stream = streams[key] { return stream }
        let stream = SockudoStream(id: uuid())
        streams[key] = stream
        return stream
    }

    func streamKey(_ key: ChannelKey, on node: Int, _ settings: Settings) -> StreamKey {
        StreamKey(channel: key, node: settings.historyLength == nil ? node : 0)
    }

    /// Returns a channel's stream as a connection's node knows it.
    mutating func view(of key: ChannelKey, for id: ConnectionID, _ settings: Settings) -> SockudoView {
        let node = node(of: id)
        return SockudoView(stream: stream(of: streamKey(key, on: node, settings)), node: node, now: now, settings: settings)
    }

    // MARK: Events

    /// Sends an event to a channel's subscribers: to those of V2 with its position.
    mutating func sendEvent(
        _ frame: String, _ event: SockudoEvent, of key: ChannelKey, to receivers: [ConnectionID]
    ) {
        guard let settings = profile.sockudoV2 else { return send(frame, to: receivers) }
        let node = settings.nodes > 1 ? Int.random(in: 0..<settings.nodes, using: &generator) : 0
        let messageID = uuid()
        var (own, serial) = (frame, 0)
        if let tags = event.more.tags { own = own.adding(",\"tags\":\(tags.text)") }
        own = own.adding(",\"message_id\":\"\(messageID)\"")
        let isNumbered = (settings.replays || settings.historyLength != nil) && !event.more.isEphemeral
        if isNumbered {
            let place = streamKey(key, on: node, settings)
            serial = stream(of: place).head + 1
            own = own.adding(",\"stream_id\":\"\(stream(of: place).id)\",\"serial\":\(serial)")
            if let extras = event.more.extras { own = own.adding(",\"extras\":\(extras.text)") }
            // In its place: a copy would be one of all events.
            streams[place]?.append(
                SockudoStream.Entry(
                    serial: serial, frame: own, plain: frame, event: event, messageID: messageID, time: now, node: node),
                settings)
        } else if let extras = event.more.extras {
            own = own.adding(",\"extras\":\(extras.text)")
        }
        for id in receivers where nodesHearEachOther || self.node(of: id) == node {
            guard var connection = connections[id]?.sockudo else {
                effects.append(.send(frame, to: id))
                continue
            }
            if let join = connection.joins[key.name], now < join { continue }
            if connection.options[key.name]?.admits(event) == false { continue }
            let isGated = connection.resumes.contains { $0.positions[key.name] != nil }
            if isGated { connection.gate.append((serial, own)) }
            if !isGated || settings.sendsLiveEventsTwice {
                let before = connection.swapped.removeValue(forKey: key.name)
                if before == nil, Int.random(in: 0..<100, using: &generator) < settings.swappedEvents {
                    connection.swapped[key.name] = (own, now + .milliseconds(50))
                    needsTime(by: now + .milliseconds(50))
                } else {
                    effects.append(.send(own, to: id))
                    if let before { effects.append(.send(before.frame, to: id)) }
                }
            }
            connections[id]?.sockudo = connection
        }
    }

    // MARK: Replays

    /// Begins a replay. Live events of its channels wait until it is sent.
    mutating func resume(_ data: JSONValue?, from id: ConnectionID) {
        guard let settings = profile.sockudoV2, settings.replays else {
            return reject("Connection recovery is not enabled", code: 4301, from: id)
        }
        guard let asked = nested(data) else {
            return reject("Invalid message format: Invalid resume data JSON", code: 4000, from: id)
        }
        let isOld = asked["channel_positions"] == nil
        guard let places = asked[isOld ? "channel_serials" : "channel_positions"]?.objectValue else {
            let problem = "Missing channel_positions or channel_serials in resume data"
            return reject("Invalid message format: \(problem)", code: 4000, from: id)
        }
        var positions: [Name: SockudoConnection.Position] = [:]
        for (channel, place) in places {
            guard case .number(let number)? = isOld ? place : place["serial"], let serial = number.integer, serial >= 0 else {
                return reject("Invalid message format: Invalid resume data JSON", code: 4000, from: id)
            }
            guard settings.replaysUnsubscribed || connections[id]?.subscriptions[channel] != nil else {
                return reject("Resume before the subscription to \(channel)", code: 4301, from: id)
            }
            positions[channel] = SockudoConnection.Position(
                serial: serial, stream: isOld ? nil : place["stream_id"]?.stringValue, isOld: isOld)
        }
        guard !positions.isEmpty else {
            return reject("No channel recovery positions provided", code: 4302, from: id)
        }
        // Protocol 7 has no positions by which to tell live events from replayed ones, so that nothing is held for it.
        let isOfV2 = connections[id]?.sockudo != nil
        let resume = SockudoConnection.Resume(due: now + (isOfV2 ? settings.answerDelay : .zero), positions: positions)
        guard isOfV2 else {
            answer(resume, id)
            return
        }
        noteDoubts(about: positions, id)
        connections[id]?.sockudo?.resumes.append(resume)
        if settings.answerDelay > .zero { needsTime(by: resume.due) } else { answerResumes(of: id) }
    }

    /// Tells of replays that a client shouldn't ask for, although the real server makes them.
    private mutating func noteDoubts(about positions: [Name: SockudoConnection.Position], _ id: ConnectionID) {
        guard let connection = connections[id], let sockudo = connection.sockudo else { return }
        var doubts = sockudo.resumes.isEmpty ? [] : ["before the answer to the last one"]
        for (channel, position) in positions.sorted(by: { $0.key < $1.key }) {
            if connection.subscriptions[channel] == nil { doubts.append("for \(channel), to which it isn't subscribed") }
            if sockudo.replayed[channel] == position { doubts.append("for \(channel) from a place that was replayed") }
        }
        for doubt in doubts { effects.append(.notice(.doubtfulReplay(id, reason: doubt))) }
    }

    /// Sends what is due to a connection of V2.
    mutating func sendLate(to id: ConnectionID) {
        for (channel, due) in connections[id]?.sockudo?.successes.sorted(by: { $0.key < $1.key }) ?? [] where due <= now {
            sendSuccess(of: channel, to: id)
        }
        answerResumes(of: id)
        for (channel, swapped) in connections[id]?.sockudo?.swapped ?? [:] where swapped.due <= now {
            connections[id]?.sockudo?.swapped[channel] = nil
            effects.append(.send(swapped.frame, to: id))
        }
    }

    private mutating func answerResumes(of id: ConnectionID) {
        var frames = 0
        while let resume = connections[id]?.sockudo?.resumes.first, resume.due <= now {
            connections[id]?.sockudo?.resumes.removeFirst()
            frames += answer(resume, id, after: frames)
        }
    }

    /// Sends a replay; returns the number of its frames. With too many for all that are answered together, the connection ends.
    @discardableResult
    private mutating func answer(_ resume: SockudoConnection.Resume, _ id: ConnectionID, after others: Int = 0) -> Int {
        guard let settings = profile.sockudoV2, let connection = connections[id] else { return 0 }
        var (frames, recovered, failed): ([String], [JSONValue], [JSONValue]) = ([], [], [])
        for (channel, asked) in resume.positions.sorted(by: { $0.key < $1.key }) {
            connections[id]?.sockudo?.joins[channel] = nil
            let view = view(of: key(of: channel, connection), for: id, settings)
            switch replay(asked, view, settings) {
            case .success(let (entries, source)):
                let options = connection.sockudo?.options[channel]
                if !entries.isEmpty { connections[id]?.sockudo?.replayed[channel] = asked }
                let shown = entries.filter { options?.admits($0.event) != false }
                frames += shown.map { connection.sockudo == nil ? $0.plain : $0.frame }
                // It may be beyond the last frame, if a filter hides the tail.
                let last = entries.last.map {
                    JSONValue.object([
                        "stream_id": .string(view.stream.id), "serial": .integer($0.serial),
                        "last_message_id": .string($0.messageID),
                    ])
                }
                recovered.append([
                    "channel": .string(channel.text), "source": .string(source), "replayed": .integer(shown.count),
                    "position": last ?? .null,
                ])
            case .failure(let failure):
                var members = failure.members
                frames.append(
                    ServerFrame.event("pusher:resume_failed", channel: channel.text, data: JSONValue.object(members).text))
                members["channel"] = .string(channel.text)
                failed.append(.object(members))
            }
        }
        guard others + frames.count < settings.maximumFrames else {
            close(id, code: 1006, reason: "")
            return 0
        }
        for frame in frames { effects.append(.send(frame, to: id)) }
        let data: JSONValue = .object(["recovered": .array(recovered), "failed": .array(failed)])
        effects.append(.send(ServerFrame.event("pusher:resume_success", channel: nil, data: data.text), to: id))
        let gate = connections[id]?.sockudo?.gate ?? []
        connections[id]?.sockudo?.gate = []
        for event in gate.sorted(by: { $0.serial < $1.serial }) { effects.append(.send(event.frame, to: id)) }
        return frames.count
    }

    private struct ReplayFailure: Error {
        let members: [Name: JSONValue]

        init(_ code: String, _ reason: String, asked: String?, current: String?, _ range: ClosedRange<Int>? = nil) {
            func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
            members = [
                "code": .string(code), "reason": .string(reason), "expected_stream_id": text(asked),
                "current_stream_id": text(current),
                "oldest_available_serial": range.map { .integer($0.lowerBound) } ?? .null,
                "newest_available_serial": range.map { .integer($0.upperBound) } ?? .null,
            ]
        }
    }

    private mutating func replay(
        _ asked: SockudoConnection.Position, _ view: SockudoView, _ settings: Settings
    ) -> Result<(entries: [SockudoStream.Entry], source: String), ReplayFailure> {
        func failure(
            _ code: String, _ reason: String, current: String? = nil, _ range: ClosedRange<Int>? = nil
        ) -> Result<(entries: [SockudoStream.Entry], source: String), ReplayFailure> {
            .failure(ReplayFailure(code, reason, asked: asked.stream, current: current, range))
        }
        let current = view.stream.id
        let isSame = asked.stream.map { $0.hasBytes(of: current) }
        if view.stream.isBuffered, isSame == false {
            return failure("stream_reset", "stream_id_mismatch", current: current)
        }
        let isRefused = Int.random(in: 0..<100, using: &generator) < settings.refusedReplays
        if !isRefused, let entries = view.buffered(after: asked.serial) { return .success((entries, "hot")) }
        if asked.isOld {
            return failure("continuity_unverifiable", "legacy_serial_only_position_cannot_use_cold_recovery")
        }
        guard settings.historyLength != nil else {
            return failure("position_expired", "hot_replay_expired_and_durable_history_disabled")
        }
        guard !settings.losesHistory else {
            return failure("persistence_unavailable", "durable_history_state_unavailable")
        }
        let stored = view.stored
        let range = stored.first.map { $0.serial...view.storedHead }
        if isSame != true { return failure("stream_reset", "durable_stream_id_mismatch", current: current, range) }
        if isRefused || asked.serial > view.storedHead {
            return failure("continuity_unverifiable", "position_ahead_of_durable_stream", current: current, range)
        }
        if asked.serial + 1 < view.oldestStored {
            let reason = "retained_history_floor_is_ahead_of_requested_serial"
            return failure("position_expired", reason, current: current, range)
        }
        if view.storedHead - asked.serial > settings.bufferLength {
            return failure("position_expired", "recovery_window_exceeded", current: current, range)
        }
        return .success((stored.filter { $0.serial > asked.serial }, "cold"))
    }

    private func nested(_ data: JSONValue?) -> JSONValue? {
        data?.stringValue.map { try? JSONValue(parsing: $0) } ?? data
    }
}

extension String {
    /// Adds members at the end of a frame's object.
    func adding(_ members: String) -> String { utf8.dropLast().text + members + "}" }
}

extension Collection<UInt8> {
    fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}
