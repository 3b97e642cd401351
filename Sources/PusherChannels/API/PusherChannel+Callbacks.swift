/// The callbacks of a channel, of which it has one each: those of its subscription, until others are set. They are called where
/// ``PusherClientOptions/delivery`` says, and are nil on a handle that is idle.
extension PusherChannel {
    /// Called with the number of connections that are subscribed, when it changes.
    @preconcurrency
    public var onSubscriptionCountChanged: (@Sendable (Int) -> Void)? {
        get { callbacks.subscriptionCountChanged }
        set { setCallback(\.subscriptionCountChanged, newValue) }
    }

    fileprivate var callbacks: ChannelCallbacks { client.core.callbacks(of: channel, number: number) ?? ChannelCallbacks() }

    fileprivate func setCallback<Value: Sendable>(_ callback: WritableKeyPath<ChannelCallbacks, Value>, _ value: Value) {
        client.core.setCallback(callback, value, of: channel, number: number)
    }
}

extension PusherPresenceChannel {
    /// Called when somebody comes.
    @preconcurrency
    public var onMemberAdded: (@Sendable (PusherPresenceChannelMember) -> Void)? {
        get { callbacks.memberAdded }
        set { setCallback(\.memberAdded, newValue) }
    }

    /// Called when somebody leaves.
    @preconcurrency
    public var onMemberRemoved: (@Sendable (PusherPresenceChannelMember) -> Void)? {
        get { callbacks.memberRemoved }
        set { setCallback(\.memberRemoved, newValue) }
    }
}
