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
    /// - Returns: The requested information about each channel, in the order of `channels`, as far as the server reports it.
    /// - Throws: A ``PusherError``, or `CancellationError`.
    @discardableResult
    public func trigger(
        channels: [String], eventName: String, data: some Encodable, excluding socketID: String? = nil,
        info: [PusherChannelInfo.Attribute] = []
    ) async throws -> [PusherChannelInfo] {
        let event = try PublishedEvent(
            channels: channels, name: eventName, data: data, excluding: socketID, info: info, options: options, encoder: encoder)
        let told = try await publish(
            1, to: channels.count == 1 ? channels[0] : nil, "/events", event.json, member: "channels")["channels"]
        return channels.map { PusherChannelInfo($0, told?[$0], decryptedWith: options.encryptionMasterKeys) }
    }

    /// Publishes up to 10 events, each to one channel, with one request.
    ///
    /// - Returns: The requested information about each event's channel, in the order of the events, as far as the server reports
    ///   it.
    /// - Throws: A ``PusherError``, or `CancellationError`. If one event can't be published, none is.
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
            ).jsonInBatch
        }
        let told = try await publish(
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
    ///   - data: The event's data, as for ``trigger(channels:eventName:data:excluding:info:)``.
    /// - Throws: A ``PusherError``, or `CancellationError`.
    public func sendToUser(_ userID: String, eventName: String, data: some Encodable) async throws {
        let event = try PublishedEvent(userID: userID, name: eventName, data: data, options: options, encoder: encoder)
        _ = try await publish(1, to: nil, "/events", event.json, member: "channels")
    }

    /// Returns the server's response to a successful publish, a JSON object.
    private func publish(
        _ count: Int, to channel: String?, _ path: String, _ body: JSONValue, member: Name
    ) async throws -> JSONValue {
        let telemetry = PublishTelemetry(environment: client.environment, logger: options.logger)
        return try await telemetry.publishing(count, to: channel) {
            try await client.response(to: .post(path, body.text, repetition: .again, member: member)).object
        }
    }

    var encoder: JSONEncoder { client.environment.jsonEncoder() }
}
