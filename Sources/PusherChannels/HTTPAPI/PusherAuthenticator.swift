import Foundation

/// The backend of clients' authorization endpoints: signs authorizations for channels and users.
///
/// A signature allows a connection to do what it asked for. Before you call, check that the user may do it. The fields of a
/// request can't make the authenticator sign anything else: anything but a socket id or a channel name is refused with a
/// ``PusherError`` of kind `invalidRequest`. Descriptions show no secret. May be used from any thread.
public struct PusherAuthenticator: Sendable, CustomStringConvertible {
    private let key: String
    private let secret: Secret<String>
    private let encryptionMasterKeys: [EncryptionMasterKey]
    private let limits: ProtocolLimits
    private let environment: PusherEnvironment

    /// Creates the authenticator of one app.
    ///
    /// - Parameters:
    ///   - key: The app's key.
    ///   - secret: The app's secret.
    ///   - encryptionMasterKeys: The master keys of encrypted channels; clients get keys derived from the first one.
    ///   - limits: The maximum lengths of ids and users' descriptions. The characters of channel names are always checked.
    ///   - environment: The source of ``PusherEnvironment/jsonEncoder``, which encodes users' descriptions.
    public init(
        key: String, secret: String, encryptionMasterKeys: [EncryptionMasterKey] = [], limits: ProtocolLimits = .serverLibraries,
        environment: PusherEnvironment = .live
    ) {
        self.key = key
        self.secret = Secret(secret)
        self.encryptionMasterKeys = encryptionMasterKeys
        var limits = limits
        // A colon in a name would change the meaning of the signed text.
        limits.restrictsChannelCharacters = true
        self.limits = limits
        self.environment = environment
    }

    /// Authorizes a connection for a private or an encrypted channel.
    ///
    /// - Throws: A ``PusherError`` of kind `invalidRequest`, also for any other kind of channel.
    public func authorizeChannel(_ request: PusherAuthRequest) throws(PusherError) -> PusherAuth {
        let channel = try channelName(of: request)
        var sharedSecret: String?
        switch ChannelName(channel).kind {
        case .private: break
        case .encrypted: sharedSecret = try self.sharedSecret(of: channel)
        case .presence:
            throw PusherError(
                .invalidRequest, message: "\(channel) is a presence channel: authorizePresenceChannel says who joins it")
        case .public: throw PusherError(.invalidRequest, message: "\(channel) is public and needs no authorization")
        }
        let auth = try Signature.channel(channel, socketID: request.socketID, key: key, secret: secret.value)
        return PusherAuth(auth: auth, sharedSecret: sharedSecret)
    }

    /// Authorizes a connection for a presence channel, as a user.
    ///
    /// - Parameters:
    ///   - request: The client's request.
    ///   - userID: The user's id, 128 characters at most.
    ///   - userInfo: The user's description for the channel's other members, a JSON object of at most 1 KB; nil for none.
    /// - Throws: A ``PusherError`` of kind `invalidRequest`, also for any other kind of channel.
    public func authorizePresenceChannel(
        _ request: PusherAuthRequest, userID: String, userInfo: (any Encodable)? = nil
    ) throws(PusherError) -> PusherAuth {
        try authorizePresenceChannel(request, userID: userID, userInfoJSON: try encoded(userInfo))
    }

    /// Does the same with a description that is JSON already.
    package func authorizePresenceChannel(
        _ request: PusherAuthRequest, userID: String, userInfoJSON: String?
    ) throws(PusherError) -> PusherAuth {
        let channel = try channelName(of: request)
        guard ChannelName(channel).kind == .presence else {
            throw PusherError(.invalidRequest, message: "\(channel) isn't a presence channel")
        }
        try limits.checkUserID(userID)
        // Reverb fails a whole channel for want of a user_info.
        let info = userInfoJSON ?? "{}"
        try check(info)
        let channelData = #"{"user_id":\#(JSONValue.string(userID).text),"user_info":\#(info)}"#
        let auth = try Signature.channel(
            channel, channelData: channelData, socketID: request.socketID, key: key, secret: secret.value)
        return PusherAuth(auth: auth, channelData: channelData)
    }

    /// Authenticates a user who signs in on a connection.
    ///
    /// - Parameters:
    ///   - request: The client's request; it names no channel.
    ///   - userID: The user's id, 128 characters at most.
    ///   - userInfo: The user's description that the server keeps, a JSON object of at most 1 KB; nil for none.
    ///   - watchlist: The users, 100 at most, whose coming and going the user is notified of.
    /// - Throws: A ``PusherError`` of kind `invalidRequest`.
    public func authenticateUser(
        _ request: PusherAuthRequest, userID: String, userInfo: (any Encodable)? = nil, watchlist: [String] = []
    ) throws(PusherError) -> PusherUserAuth {
        try authenticateUser(request, userID: userID, userInfoJSON: try encoded(userInfo), watchlist: watchlist)
    }

    /// Does the same with a description that is JSON already.
    package func authenticateUser(
        _ request: PusherAuthRequest, userID: String, userInfoJSON: String?, watchlist: [String] = []
    ) throws(PusherError) -> PusherUserAuth {
        try checkCredentials(key: key, secret: secret)
        guard request.channelName == nil else {
            throw PusherError(.invalidRequest, message: "the request is for a channel, not for a user's authentication")
        }
        try limits.checkUserID(userID)
        if let limit = limits.watchlistLength, watchlist.count > limit {
            throw PusherError(
                .invalidRequest, message: "a watchlist can name \(limit) users, this one has \(watchlist.count)")
        }
        var userData = #"{"id":\#(JSONValue.string(userID).text)"#
        if let userInfoJSON {
            try check(userInfoJSON)
            userData += #","user_info":\#(userInfoJSON)"#
        }
        if !watchlist.isEmpty { userData += #","watchlist":\#(JSONValue.array(watchlist.map { .string($0) }).text)"# }
        userData += "}"
        let auth = try Signature.user(userData, socketID: request.socketID, key: key, secret: secret.value)
        return PusherUserAuth(auth: auth, userData: userData)
    }

    /// Checks what a client asks for, before anybody decides about it.
    func check(_ request: PusherAuthRequest) throws(PusherError) {
        try SocketID.checkBeforeSigning(request.socketID)
        guard let channel = request.channelName else { return }
        try limits.checkChannel(channel)
        guard ChannelName(channel).kind != .public else {
            throw PusherError(.invalidRequest, message: "\(channel) is public and needs no authorization")
        }
    }

    private func channelName(of request: PusherAuthRequest) throws(PusherError) -> String {
        try checkCredentials(key: key, secret: secret)
        guard let name = request.channelName else {
            throw PusherError(.invalidRequest, message: "the request is for a user's authentication, not for a channel")
        }
        try limits.checkChannel(name)
        return name
    }

    private func sharedSecret(of channel: String) throws(PusherError) -> String {
        guard SecretBox.isSupported else {
            throw PusherError(
                .invalidRequest, message: "encrypted channels such as \(channel) are not supported on this platform")
        }
        guard let key = encryptionMasterKeys.first else {
            throw PusherError(.invalidRequest, message: "\(channel) needs the authenticator's encryptionMasterKeys")
        }
        return Data(key.sharedSecret(of: channel)).base64EncodedString()
    }

    private func encoded(_ info: (any Encodable)?) throws(PusherError) -> String? {
        do {
            return try info.map { String(decoding: try environment.jsonEncoder().encode($0), as: UTF8.self) }
        } catch {
            throw PusherError(
                .invalidRequest, message: "what is told of the user can't be encoded: \(PusherChannels.text(of: error))")
        }
    }

    /// Checks a user's description. It must be one object: then the names in it can't be confused with the fields that are signed
    /// next to it.
    private func check(_ text: String) throws(PusherError) {
        guard text.begins(with: "{") else {
            throw PusherError(.invalidRequest, message: "what is told of a user must be a JSON object")
        }
        if let limit = limits.userInfoSize, text.utf8.count > limit {
            throw PusherError(
                .invalidRequest,
                message: "what is told of a user can't have more than \(limit) bytes, this has \(text.utf8.count)")
        }
    }

    /// The app's key, not its secret.
    public var description: String { "PusherAuthenticator(key \(key))" }
}
