import Foundation

/// PusherSwift's names for symbols that have better names here. They let PusherSwift's programs compile; new code uses the other
/// names.
extension Pusher {
    /// Subscribes to a channel; `subscribe(_:auth:onMemberAdded:onMemberRemoved:onSubscriptionCountChanged:)` in PusherSwift's
    /// other spelling.
    @available(*, deprecated, message: "Use subscribe(_:), which needs no label")
    @preconcurrency
    @discardableResult
    public func subscribe(
        channelName: String,
        auth: PusherAuth? = nil,
        onMemberAdded: (@Sendable (PusherPresenceChannelMember) -> Void)? = nil,
        onMemberRemoved: (@Sendable (PusherPresenceChannelMember) -> Void)? = nil,
        onSubscriptionCountChanged: (@Sendable (Int) -> Void)? = nil
    ) -> PusherChannel {
        subscribe(
            channelName, auth: auth, onMemberAdded: onMemberAdded, onMemberRemoved: onMemberRemoved,
            onSubscriptionCountChanged: onSubscriptionCountChanged)
    }
}

extension PusherClientOptions {
    /// Creates options; `attemptToReturnJSONObject` has no effect, as in PusherSwift since version 9.
    @available(*, deprecated, message: "Leave attemptToReturnJSONObject out: it means nothing")
    public init(
        authMethod: AuthMethod = .noMethod,
        attemptToReturnJSONObject: Bool,
        autoReconnect: Bool = true,
        host: PusherHost = .defaultHost,
        port: Int? = nil,
        path: String? = nil,
        useTLS: Bool = true,
        activityTimeout: TimeInterval? = nil
    ) {
        self.init(
            authMethod: authMethod, autoReconnect: autoReconnect, host: host, port: port, path: path, useTLS: useTLS,
            activityTimeout: activityTimeout)
    }

    /// Sets ``authMethod``.
    @available(*, deprecated, message: "Set authMethod")
    public mutating func setAuthMethod(authMethod: AuthMethod) {
        self.authMethod = authMethod
    }
}

extension PusherPresenceChannel {
    /// This client's user id in the channel.
    @available(*, deprecated, renamed: "myID")
    public var myId: String? { myID }

    /// Returns the member with this user id.
    @available(*, deprecated, message: "Use subscript(userID:)")
    public func findMember(userId: String) -> PusherPresenceChannelMember? { self[userId] }
}

extension PusherPresenceChannelMember {
    /// The member's user id.
    @available(*, deprecated, renamed: "userID")
    public var userId: String { userID }

    /// Creates a member.
    @available(*, deprecated, renamed: "init(userID:userInfo:)")
    public init(userId: String, userInfo: Any? = nil) { self.init(userID: userId, userInfo: userInfo) }
}

extension PusherEvent {
    /// The user id of the client that sent it.
    @available(*, deprecated, renamed: "userID")
    public var userId: String? { userID }
}

extension PusherConnection {
    /// The connection's id at the server.
    @available(*, deprecated, renamed: "socketID")
    public var socketId: String? { socketID }

    /// The number of consecutive attempts that led to no stable connection.
    @available(*, deprecated, message: "Use timeToNextAttempt, or the changes of the state")
    public var reconnectAttempts: Int {
        get { core.read(\.session.backoff.failures) }
        set { core.handle(.reconnectAttempts(newValue)) }
    }

    /// The number of seconds of silence after which the client pings the server, from the next connection on; a server may ask for
    /// less.
    @available(*, deprecated, message: "Use PusherClientOptions.activityTimeout")
    public var activityTimeoutInterval: TimeInterval {
        get { core.read(\.configuration.activityTimeout) / .seconds(1) }
        set { setHeartbeat(activityTimeout: newValue, pongTimeout: pongTimeout) }
    }

    /// The number of seconds to wait for a pong, from the next connection on.
    @available(*, deprecated, message: "Use PusherClientOptions.timeouts.pong")
    public var pongResponseTimeoutInterval: TimeInterval {
        get { pongTimeout }
        set { setHeartbeat(activityTimeout: core.read(\.configuration.activityTimeout) / .seconds(1), pongTimeout: newValue) }
    }

    private var pongTimeout: TimeInterval { core.read(\.configuration.timeouts.pong) / .seconds(1) }

    private func setHeartbeat(activityTimeout: TimeInterval, pongTimeout: TimeInterval) {
        var options = options
        options.activityTimeout = activityTimeout
        options.timeouts.pong = Duration(unlimited: pongTimeout)
        let configuration = options.machineConfiguration
        core.handle(.heartbeat(activityTimeout: configuration.activityTimeout, pongTimeout: configuration.timeouts.pong))
    }
}

extension PusherChannelType {
    /// Returns the type of the channel with this name.
    @available(*, deprecated, message: "Use PusherChannelType(name:)")
    public static func type(forName name: String) -> PusherChannelType { PusherChannelType(name: name) }

    /// Returns whether a channel with this name is a presence channel.
    @available(*, deprecated, message: "Use PusherChannelType(name:) == .presence")
    public static func isPresenceChannel(name: String) -> Bool { PusherChannelType(name: name) == .presence }
}

/// A presence channel member's data as a JSON object. PusherSwift's type has `AnyObject` values.
@available(*, deprecated, message: "Use PusherPresenceChannelMember.decodeUserInfo(as:with:)")
public typealias PusherUserInfoObject = [String: Any]
