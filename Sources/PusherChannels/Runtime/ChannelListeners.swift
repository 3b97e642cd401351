/// What the application left with one channel to be called: event bindings, and PusherSwift's three callbacks.
final class ChannelListeners: Sendable {
    typealias MemberCallback = @Sendable (PusherPresenceChannelMember) -> Void

    struct Callbacks: Sendable {
        var memberAdded: MemberCallback?
        var memberRemoved: MemberCallback?
        var subscriptionCountChanged: (@Sendable (Int) -> Void)?
    }

    /// Later ones have higher numbers.
    let number: Int
    let bindings = EventBindings()
    private let state = Locked(Callbacks())

    init(number: Int) {
        self.number = number
    }

    var callbacks: Callbacks { state.withLock { $0 } }

    /// Takes over the callbacks that were given; nil leaves what is there. Gives back those that were there, for the caller to let
    /// go of.
    func update(_ new: Callbacks) -> Callbacks {
        state.withLock { callbacks in
            let replaced = callbacks
            callbacks.memberAdded = new.memberAdded ?? callbacks.memberAdded
            callbacks.memberRemoved = new.memberRemoved ?? callbacks.memberRemoved
            callbacks.subscriptionCountChanged = new.subscriptionCountChanged ?? callbacks.subscriptionCountChanged
            return replaced
        }
    }
}
