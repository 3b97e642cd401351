import Foundation

/// PusherSwift's names for what has a better one here, so that its programs compile. New code uses the others.
extension Pusher {
    /// Asks for a channel; `subscribe(_:auth:onMemberAdded:onMemberRemoved:onSubscriptionCountChanged:)` in PusherSwift's other spelling.
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
    /// Creates options; `attemptToReturnJSONObject` means nothing, as in PusherSwift since its version 9.
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

    /// Changes ``authMethod``.
    @available(*, deprecated, message: "Set authMethod")
    public mutating func setAuthMethod(authMethod: AuthMethod) {
        self.authMethod = authMethod
    }
}

extension PusherConnection {
    /// The number of attempts in a row that led to no stable connection.
    @available(*, deprecated, message: "Use timeToNextAttempt, or the changes of the state")
    public var reconnectAttempts: Int { core.read(\.backoff.failures) }

    /// Seconds of silence after which the client asks for a sign of life, as the options say; a server may ask for less.
    @available(*, deprecated, message: "Use PusherClientOptions.activityTimeout")
    public var activityTimeoutInterval: TimeInterval { options.machineConfiguration.activityTimeout / .seconds(1) }

    /// Seconds for which a pong is waited for.
    @available(*, deprecated, message: "Use PusherClientOptions.timeouts.pong")
    public var pongResponseTimeoutInterval: TimeInterval { options.machineConfiguration.timeouts.pong / .seconds(1) }
}

extension PusherChannelType {
    /// The type of the channel with this name.
    @available(*, deprecated, message: "Use PusherChannelType(name:)")
    public static func type(forName name: String) -> PusherChannelType { PusherChannelType(name: name) }

    /// Returns whether a channel with this name is a presence channel.
    @available(*, deprecated, message: "Use PusherChannelType(name:) == .presence")
    public static func isPresenceChannel(name: String) -> Bool { PusherChannelType(name: name) == .presence }
}

/// The description of a presence channel's member where it is a JSON object. PusherSwift's has `AnyObject` for values.
@available(*, deprecated, message: "Use PusherPresenceChannelMember.decodeUserInfo(as:with:)")
public typealias PusherUserInfoObject = [String: Any]
