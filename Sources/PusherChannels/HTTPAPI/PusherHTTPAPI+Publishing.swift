import Foundation

/// Publishing.
extension PusherHTTPAPI {
    /// Publishes an event to the subscribers of channels.
    ///
    /// On an encrypted channel the event is encrypted with the first of ``PusherHTTPAPIOptions/encryptionMasterKeys``; such an event can
    /// be for that channel alone.
    ///
    /// - Parameters:
    ///   - channels: 1 to 100 channels.
    ///   - eventName: The event's name, of 200 bytes of UTF-8 at most.
    ///   - data: The event's data, of 10 KB at most: a `String` is sent as it is, `Data` as the text that it is, anything else
    ///     as JSON, made by ``PusherEnvironment/jsonEncoder``.
    ///   - socketID: The connection that doesn't get the event, as that of the client that asked for it; nil for none.
    ///   - info: The attributes of the channels that are asked for.
    /// - Returns: For each channel, in the order of `channels`, what was asked for and the server tells.
    /// - Throws: A ``PusherError``, or `CancellationError`.
    @discardableResult
    public func trigger(
        channels: [String], eventName: String, data: some Encodable, excluding socketID: String? = nil,
        info: [PusherChannelInfo.Attribute] = []
    ) async throws -> [PusherChannelInfo] {
        let event = try PublishedEvent(
            channels: channels, name: eventName, data: data, excluding: socketID, info: info, options: options, encoder: encoder)
        let told = try await publish("/events", event.json)?["channels"]
        return channels.map { PusherChannelInfo($0, told?[$0]) }
    }

    /// Publishes up to 10 events, each to a channel of its own, with one request.
    ///
    /// - Returns: For each event, in their order, what it asked for and the server tells of its channel.
    /// - Throws: A ``PusherError``, or `CancellationError`. One event that can't be published keeps all back.
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
        let told = try await publish("/batch_events", ["batch": .array(batch)])?["batch"]?.arrayValue ?? []
        return events.enumerated().map { index, event in
            PusherChannelInfo(event.channel, index < told.count ? told[index] : nil)
        }
    }

    /// Publishes an event to all connections of a user who has signed in.
    ///
    /// - Parameters:
    ///   - userID: The user's id, as it was signed.
    ///   - eventName: The event's name, of 200 bytes of UTF-8 at most.
    ///   - data: The event's data, as for ``trigger(channels:eventName:data:excluding:info:)``.
    /// - Throws: A ``PusherError``, or `CancellationError`.
    public func sendToUser(_ userID: String, eventName: String, data: some Encodable) async throws {
        let event = try PublishedEvent(userID: userID, name: eventName, data: data, options: options, encoder: encoder)
        _ = try await publish("/events", event.json)
    }

    /// Returns the server's response to a publish that it carried out. One that can't be read is nothing: to fail for it would have the event
    /// published again.
    private func publish(_ path: String, _ body: JSONValue) async throws -> JSONValue? {
        let response = try await client.response(to: .post(path, body.text, repetition: .again))
        return try? JSONValue(parsing: String(decoding: response, as: UTF8.self))
    }

    var encoder: JSONEncoder { client.environment.jsonEncoder() }
}
