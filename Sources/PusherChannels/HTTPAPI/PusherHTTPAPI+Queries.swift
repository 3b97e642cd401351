import Foundation

/// Queries about channels and users, and the closing of users' connections.
extension PusherHTTPAPI {
    /// Returns the channels that have subscribers.
    ///
    /// - Parameters:
    ///   - prefix: The prefix of the channels' names; nil for all channels.
    ///   - info: The requested attributes: `userCount` only with a prefix that begins with `presence-`.
    /// - Returns: The channels, ordered by name.
    /// - Throws: A ``PusherError``, or `CancellationError`.
    public func channels(
        withPrefix prefix: String? = nil, info: [PusherChannelInfo.Attribute] = []
    ) async throws -> [PusherChannelInfo] {
        if info.contains(.userCount), !(prefix ?? "").begins(with: "presence-") {
            throw PusherError(
                .invalidRequest, message: "userCount can be asked for with a prefix that begins with presence- only")
        }
        let response = try await client.response(
            to: .get("/channels", ["filter_by_prefix": prefix, "info": info.parameter], member: "channels"))
        switch try response.object["channels"] {
        case .object(let channels):
            return channels.sorted { $0.key < $1.key }.map { name, json in
                PusherChannelInfo(name.text, json, decryptedWith: options.encryptionMasterKeys)
            }
        case .array(let channels) where channels.isEmpty: return []  // PHP's way to write an empty object.
        default: throw response.unreadable("it has no object \"channels\"")
        }
    }

    /// Returns information about a channel.
    ///
    /// - Parameters:
    ///   - name: The channel's name.
    ///   - info: The requested attributes, in addition to whether the channel is occupied: `userCount` only for a presence
    ///     channel, `cache` only for a cache channel.
    /// - Throws: A ``PusherError``, or `CancellationError`.
    public func channel(_ name: String, info: [PusherChannelInfo.Attribute] = []) async throws -> PusherChannelInfo {
        try options.limits.checkChannel(name)
        if info.contains(.userCount) { try checkPresence(name) }
        let path = try HTTPAPICall.path(["channels", name])
        let response = try await client.response(to: .get(path, ["info": info.parameter], member: "occupied"))
        let told = PusherChannelInfo(name, try response.object, decryptedWith: options.encryptionMasterKeys)
        guard told != PusherChannelInfo(name, nil, decryptedWith: []) else { throw response.unreadable("it has no \"occupied\"") }
        return told
    }

    /// Returns the ids of the users in a presence channel.
    ///
    /// - Throws: A ``PusherError``, or `CancellationError`.
    public func users(of channel: String) async throws -> [String] {
        try options.limits.checkChannel(channel)
        try checkPresence(channel)
        let path = try HTTPAPICall.path(["channels", channel, "users"])
        let response = try await client.response(to: .get(path, member: "users"))
        guard let users = try response.object["users"]?.arrayValue else { throw response.unreadable("it has no array \"users\"") }
        return users.compactMap { $0["id"]?.identifier }
    }

    /// Closes all connections of a user who has signed in. This doesn't keep the user out: the client may sign in again.
    ///
    /// - Parameter userID: The user's id, as it was signed.
    /// - Throws: A ``PusherError``, or `CancellationError`.
    public func terminateConnections(ofUser userID: String) async throws {
        try options.limits.checkUserID(userID)
        let path = try HTTPAPICall.path(["users", userID, "terminate_connections"])
        _ = try await client.response(to: .post(path, "{}", repetition: .harmless, member: "ok")).object
    }

    private func checkPresence(_ channel: String) throws(PusherError) {
        guard ChannelName(channel).kind == .presence else {
            throw PusherError(.invalidRequest, message: "\(channel.inLogLine()) has no users: only presence channels do")
        }
    }
}
