/// The callbacks of a channel, one of each kind: those passed when subscribing, until others are set. They are called on
/// ``PusherClientOptions/delivery``, and are nil on an idle handle.
extension PusherChannel {
    /// Called with the number of subscribed connections when it changes.
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
    /// Called when a member joins.
    @preconcurrency
    public var onMemberAdded: (@Sendable (PusherPresenceChannelMember) -> Void)? {
        get { callbacks.memberAdded }
        set { setCallback(\.memberAdded, newValue) }
    }

    /// Called when a member leaves.
    @preconcurrency
    public var onMemberRemoved: (@Sendable (PusherPresenceChannelMember) -> Void)? {
        get { callbacks.memberRemoved }
        set { setCallback(\.memberRemoved, newValue) }
    }
}
