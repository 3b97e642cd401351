import Foundation

/// Publishing.
extension PusherHTTPAPI {
    /// Publishes an event to the subscribers of channels.
    ///
    /// On an encrypted channel the event is encrypted with the first of ``PusherHTTPAPIOptions/encryptionMasterKeys``; such an
    /// event can't be for other channels, too.
    ///
    /// - Parameters:
    ///   - channels: 1 to 100 channels.
    ///   - eventName: The event's name, 200 characters at most.
    ///   - data: The event's data, of which the hosted service takes 10 KB: a `String` is sent as it is, `Data` as UTF-8 text,
    ///     anything else as JSON, encoded by ``PusherEnvironment/jsonEncoder``.
    ///   - socketID: The connection that doesn't get the event, such as that of the client that requested it; nil for none.
    ///   - info: The requested attributes of the channels.
    ///   - idempotencyKey: A key of at most 128 bytes by which a Sockudo server publishes the event only once, however often it is
    ///     sent: such as the id in your outbox, if you may send it again after a crash. Sockudo compares only the key, for five
    ///     minutes by default. Use it again only if the response was lost: after an error status, Sockudo takes the publish for one
    ///     under way for two minutes. Other servers ignore it, and publish again. Nil for none, or one made for each publish with
    ///     ``RetryPolicy/Guarantee/idempotent``.
    ///   - tags: What a ``SubscriptionFilter`` looks at. A Sockudo server sends them with the event, outside its data and so in plain
    ///     text, to clients of its own protocol; other servers ignore them. By default none.
    /// - Returns: The requested information about each channel, in the order of `channels`, as far as the server reports it.
    /// - Throws: A ``PusherError``, or `CancellationError`.
    @discardableResult
    public func trigger(
        channels: [String], eventName: String, data: some Encodable, excluding socketID: String? = nil,
        info: [PusherChannelInfo.Attribute] = [], idempotencyKey: String? = nil, tags: [String: String] = [:]
    ) async throws -> [PusherChannelInfo] {
        let event = try PublishedEvent(
            channels: channels, name: eventName, data: data, excluding: socketID, info: info, options: options, encoder: encoder
        ).with(key: idempotencyKey ?? makeKey(), tags: tags)
        let told = try await publish(
            1, to: channels.count == 1 ? channels[0] : nil, "/events", event.json, member: "channels")["channels"]
        return channels.map { PusherChannelInfo($0, told?[$0], decryptedWith: options.encryptionMasterKeys) }
    }

    /// Publishes up to 10 events, each to one channel, with one request.
    ///
    /// - Returns: The requested information about each event's channel, in the order of the events, as far as the server reports
    ///   it.
    /// - Throws: A ``PusherError``, or `CancellationError`. If the server refuses one event, none is published, except by Sockudo,
    ///   which publishes those before it. If they have keys, they aren't published twice when all are sent again; the refused one
    ///   needs a new key then.
    @discardableResult
    public func triggerBatch(_ events: [PusherBatchEvent]) async throws -> [PusherChannelInfo] {
        guard !events.isEmpty else { throw PusherError(.invalidRequest, message: "a batch needs an event") }
        if let limit = options.limits.eventsPerBatch, events.count > limit {
            throw PusherError(.invalidRequest, message: "a batch can have \(limit) events, this one has \(events.count)")
        }
        let encoder = encoder
        let batch = try events.map { event in
            try PublishedEvent(
                channels: [event.channel], name: event.eventName, data: event.data, excluding: event.excludedSocketID,
                info: event.info, options: options, encoder: encoder
            ).with(key: event.idempotencyKey ?? makeKey(), tags: event.tags).jsonInBatch
        }
        let told =
            try await publish(
                batch.count, to: nil, "/batch_events", ["batch": .array(batch)], member: "batch")["batch"]?.arrayValue ?? []
        return events.enumerated().map { index, event in
            PusherChannelInfo(
                event.channel, index < told.count ? told[index] : nil, decryptedWith: options.encryptionMasterKeys)
        }
    }

    /// Publishes an event to all connections of a user who has signed in.
    ///
    /// - Parameters:
    ///   - userID: The user's id, as it was signed.
    ///   - eventName: The event's name, 200 characters at most.
    ///   - data: The event's data, as for ``trigger(channels:eventName:data:excluding:info:idempotencyKey:tags:)``.
    ///   - idempotencyKey: The key, as there.
    /// - Throws: A ``PusherError``, or `CancellationError`.
    public func sendToUser(
        _ userID: String, eventName: String, data: some Encodable, idempotencyKey: String? = nil
    ) async throws {
        let event = try PublishedEvent(userID: userID, name: eventName, data: data, options: options, encoder: encoder)
            .with(key: idempotencyKey ?? makeKey())
        _ = try await publish(1, to: nil, "/events", event.json, member: "channels")
    }

    /// Returns the server's response to a successful publish, a JSON object.
    private func publish(
        _ count: Int, to channel: String?, _ path: String, _ body: JSONValue, member: Name
    ) async throws -> JSONValue {
        let telemetry = PublishTelemetry(environment: client.environment, logger: options.logger)
        return try await telemetry.publishing(count, to: channel) {
            try await client.response(to: .post(path, body.text, repetition: .againUnlessKnown, member: member)).object
        }
    }

    /// Returns a new key if each publish is to have one.
    private func makeKey() -> String? {
        guard options.retryPolicy.publishing == .idempotent else { return nil }
        return (0..<2).map { _ in String(client.environment.randomSeed(), radix: 16) }.joined(separator: "-")
    }

    var encoder: JSONEncoder { client.environment.jsonEncoder() }
}
