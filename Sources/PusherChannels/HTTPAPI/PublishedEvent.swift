import Foundation

/// An event that is ready for the HTTP API: checked, its data encoded and, for an encrypted channel, encrypted.
struct PublishedEvent {
    let channels: [String]
    private let name: String
    private let data: String
    private let socketID: String?
    private let info: String?
    private var idempotencyKey: String?
    private var tags: [String: String] = [:]

    /// Creates an event for channels whose names were checked.
    private init(
        checked channels: [String], name: String, data: any Encodable, excluding socketID: String?,
        info: [PusherChannelInfo.Attribute], options: PusherHTTPAPIOptions, encoder: JSONEncoder
    ) throws(PusherError) {
        try options.limits.checkEventName(name)
        // If the server checks the names, it also checks the ids.
        if let socketID, options.limits.restrictsChannelCharacters { try SocketID.checkBeforeSigning(socketID) }
        self.channels = channels
        self.name = name
        self.socketID = socketID
        self.info = info.parameter
        let text = try encoder.text(of: data, what: "the data of \(name.inLogLine())")
        self.data = try Self.encrypt(text, for: channels, keys: options.encryptionMasterKeys)
    }

    /// Creates an event for channels that a user named.
    init(
        channels: [String], name: String, data: any Encodable, excluding socketID: String?, info: [PusherChannelInfo.Attribute],
        options: PusherHTTPAPIOptions, encoder: JSONEncoder
    ) throws(PusherError) {
        try options.limits.checkChannels(channels)
        try self.init(
            checked: channels, name: name, data: data, excluding: socketID, info: info, options: options, encoder: encoder)
    }

    /// Creates an event for all connections of a user.
    init(
        userID: String, name: String, data: any Encodable, options: PusherHTTPAPIOptions, encoder: JSONEncoder
    ) throws(PusherError) {
        try options.limits.checkUserID(userID)
        try self.init(
            checked: ["#server-to-user-\(userID)"], name: name, data: data, excluding: nil, info: [], options: options,
            encoder: encoder)
    }

    /// Encrypts the data for an encrypted channel. Such an event can't be for several channels at a time.
    private static func encrypt(
        _ data: String, for channels: [String], keys: [EncryptionMasterKey]
    ) throws(PusherError) -> String {
        guard let channel = channels.first(where: { ChannelName($0).kind == .encrypted }) else { return data }
        guard channels.count == 1 else {
            throw PusherError(
                .invalidRequest,
                message: "\(channel) is encrypted: an event for it can't be for other channels too, publish it alone")
        }
        guard SecretBox.isSupported else {
            throw PusherError(
                .invalidRequest, message: "encrypted channels such as \(channel) are not supported on this platform")
        }
        guard let key = keys.first else {
            throw PusherError(.invalidRequest, message: "\(channel) needs PusherHTTPAPIOptions.encryptionMasterKeys")
        }
        guard let encrypted = EncryptedEvent.encrypt(data, for: channel, with: key) else {
            throw PusherError(.invalidRequest, message: "the event for \(channel) could not be encrypted")
        }
        return encrypted
    }

    /// Returns the event with a key by which a server knows it again, and with tags.
    func with(key: String?, tags: [String: String] = [:]) throws(PusherError) -> PublishedEvent {
        if let key, !(1...128).contains(key.utf8.count) {
            throw PusherError(.invalidRequest, message: "an idempotency key has 1 to 128 bytes, this one has \(key.utf8.count)")
        }
        var event = self
        (event.idempotencyKey, event.tags) = (key, tags)
        return event
    }

    /// The event as the body of a publish.
    var json: JSONValue {
        json(with: ["channels": .array(channels.map { .string($0) })])
    }

    /// The event as a part of a batch.
    var jsonInBatch: JSONValue {
        json(with: ["channel": .string(channels[0])])
    }

    private func json(with place: [Name: JSONValue]) -> JSONValue {
        var members = place
        members["name" as Name] = .string(name)
        members["data" as Name] = .string(data)
        members["socket_id" as Name] = socketID.map { .string($0) }
        members["idempotency_key" as Name] = idempotencyKey.map { .string($0) }
        members["info" as Name] = info.map { .string($0) }
        members["tags" as Name] = tags.isEmpty ? nil : JSONValue(members: tags.map { ($0, JSONValue.string($1)) })
        return .object(members)
    }
}
