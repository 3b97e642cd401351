/// The callbacks that were passed with a subscription, as in PusherSwift.
struct ChannelCallbacks: Sendable {
    typealias MemberCallback = @Sendable (PusherPresenceChannelMember) -> Void

    var memberAdded: MemberCallback?
    var memberRemoved: MemberCallback?
    var subscriptionCountChanged: (@Sendable (Int) -> Void)?

    /// Replaces the callbacks that are given; nil keeps the current one. Returns the previous callbacks.
    mutating func update(_ new: ChannelCallbacks) -> ChannelCallbacks {
        defer {
            memberAdded = new.memberAdded ?? memberAdded
            memberRemoved = new.memberRemoved ?? memberRemoved
            subscriptionCountChanged = new.subscriptionCountChanged ?? subscriptionCountChanged
        }
        return self
    }
}

/// The listeners of one channel, from its subscription until it is given up.
struct ChannelListeners: Sendable {
    /// The number that identifies these listeners. Later ones have higher numbers.
    let number: Int
    /// The number of `subscribe` calls that haven't been undone.
    var requests = 0
    var bindings = Bindings()
    var callbacks = ChannelCallbacks()
    /// The object that the application has for the channel.
    weak var object: (any AnyObject & Sendable)?
}

/// The closures that wait for the user's sign-in, listen to the user's events, and watch other users.
struct UserListeners: Sendable {
    typealias SignInCallback = @Sendable (Result<String, PusherError>) -> Void
    typealias WatchlistCallback = @Sendable ([String]) -> Void

    var bindings = Bindings()
    var signIns: [(id: Int, callback: SignInCallback)] = []
    /// The closures whose sign-in has ended, one list for each outcome that is still to be delivered.
    private var endedSignIns = Deque<[SignInCallback]>()
    var watchers: [Int: (event: Name, callback: WatchlistCallback)] = [:]

    /// Notes that a sign-in has ended: closures added from now on wait for another one.
    mutating func signInEnded() {
        endedSignIns.append(signIns.map(\.callback))
        signIns = []
    }

    /// Takes the closures that wait for the outcome that is being delivered.
    mutating func takeEndedSignIns() -> [SignInCallback] {
        endedSignIns.popFirst() ?? []
    }

    /// Returns the ids of the closures that watch for an event, in the order in which they began.
    func watchers(of event: Name) -> [Int] {
        watchers.filter { $0.value.event == event }.map(\.key).sorted()
    }
}

/// The application's listeners: closures, callbacks, and the delegate.
struct Listeners {
    private weak var anyDelegate: (any PusherDelegate)?
    /// Indicates whether a delegate was set, even if it is gone now. Checking the weak reference would retain the delegate for a
    /// moment, and its deinitializer may do anything.
    private(set) var hasDelegate = false
    /// The stand-in for an application's delegate that lives on the main actor.
    private(set) var mainActorDelegate: MainActorDelegate?
    private(set) var channels: [Name: ChannelListeners] = [:]
    var user = UserListeners()
    private var global = GlobalBindings()
    /// The number of closures that are bound to events of channels.
    private var boundToChannels = 0
    /// The number of channel listeners made so far. Later ones hear nothing of what came before.
    private(set) var channelsMade = 0
    private var idsMade = 0

    // MARK: The delegate

    var delegate: (any PusherDelegate)? { anyDelegate }

    /// Replaces the current delegate, whichever kind it is.
    mutating func setDelegate(_ delegate: (any PusherDelegate)?) {
        anyDelegate = delegate
        hasDelegate = delegate != nil
        mainActorDelegate = delegate as? MainActorDelegate
    }

    // MARK: Channels

    /// Notes a request for a channel; returns the number of its listeners, which are made on the first request.
    mutating func request(_ channel: Name) -> Int {
        if channels[channel] == nil {
            channelsMade += 1
            channels[channel] = ChannelListeners(number: channelsMade)
        }
        channels[channel]?.requests += 1
        return channels[channel]?.number ?? channelsMade
    }

    /// Withdraws a request; returns whether it was the only one.
    mutating func withdrawRequest(for channel: Name, number: Int) -> Bool {
        guard channels[channel]?.number == number else { return false }
        channels[channel]?.requests -= 1
        return channels[channel]?.requests == 0
    }

    /// Updates a channel's callbacks; returns the previous ones.
    mutating func update(_ channel: Name, _ callbacks: ChannelCallbacks) -> ChannelCallbacks? {
        channels[channel]?.callbacks.update(callbacks)
    }

    /// Returns the object for a channel: the one that somebody holds, or this one from now on.
    mutating func object<Object: AnyObject & Sendable>(for channel: Name, number: Int, _ new: Object) -> Object {
        guard let listeners = channels[channel], listeners.number == number else { return new }
        if let object = listeners.object as? Object { return object }
        channels[channel]?.object = new
        return new
    }

    /// Replaces a callback; returns the previous one.
    mutating func replace<Value: Sendable>(
        _ callback: WritableKeyPath<ChannelCallbacks, Value>, _ value: Value, of channel: Name, number: Int
    ) -> Value? {
        guard let replaced = channels[channel], replaced.number == number else { return nil }
        channels[channel]?.callbacks[keyPath: callback] = value
        return replaced.callbacks[keyPath: callback]
    }

    mutating func removeChannel(_ channel: Name) -> ChannelListeners? {
        let removed = channels.removeValue(forKey: channel)
        boundToChannels -= removed?.bindings.count ?? 0
        return removed
    }

    /// Returns the listeners of a channel if they were there when something came, and still are.
    func listeners(of channel: Name, upTo number: Int) -> ChannelListeners? {
        channels[channel].flatMap { $0.number <= number ? $0 : nil }
    }

    // MARK: Closures

    mutating func makeID() -> Int {
        idsMade += 1
        return idsMade
    }

    mutating func makeBinding(_ callback: @escaping @Sendable (PusherEvent) -> Void) -> Binding {
        Binding(id: "binding-\(makeID())", callback: callback)
    }

    mutating func add(_ binding: Binding, to place: BindingPlace) {
        switch place {
        case .everywhere(let channelEventsOnly): global.add(binding, channelEventsOnly: channelEventsOnly)
        case .user(let event): user.bindings.add(binding, to: event)
        case .channel(let channel, let number, let event):
            guard channels[channel]?.number == number else { return }
            channels[channel]?.bindings.add(binding, to: event)
            boundToChannels += 1
        }
    }

    mutating func remove(_ id: String, from place: BindingPlace) -> Binding? {
        switch place {
        case .everywhere: return global.remove(id: id)
        case .user(let event): return user.bindings.remove(id: id, from: event)
        case .channel(let channel, let number, let event):
            guard channels[channel]?.number == number else { return nil }
            let removed = channels[channel]?.bindings.remove(id: id, from: event)
            if removed != nil { boundToChannels -= 1 }
            return removed
        }
    }

    mutating func removeAll(from place: BindingPlace) -> [Binding] {
        switch place {
        case .everywhere:
            return global.removeAll()
        case .user(let event): return user.bindings.removeAll(of: event)
        case .channel(let channel, let number, let event):
            guard channels[channel]?.number == number else { return [] }
            let removed = channels[channel]?.bindings.removeAll(of: event) ?? []
            boundToChannels -= removed.count
            return removed
        }
    }

    mutating func removeAll(ofChannel channel: Name, number: Int) -> Bindings? {
        guard let listeners = channels[channel], listeners.number == number else { return nil }
        boundToChannels -= listeners.bindings.count
        channels[channel]?.bindings = Bindings()
        return listeners.bindings
    }

    mutating func removeAllOfUser() -> Bindings {
        defer { user.bindings = Bindings() }
        return user.bindings
    }

    /// Returns whether a listener gets the delivery: an event needs a bound closure, and any other notification has a listener.
    mutating func hear(_ delivery: Delivery) -> Bool {
        switch delivery {
        case .event(let envelope): !bindings(for: envelope, ofUser: false, upTo: .max).isEmpty
        case .userEvent(let envelope): !bindings(for: envelope, ofUser: true, upTo: .max).isEmpty
        default: true
        }
    }

    /// Returns the receivers of an event, in the order in which they are called.
    mutating func bindings(for envelope: Envelope, ofUser: Bool, upTo number: Int) -> [Binding] {
        let named = ofUser ? user.bindings[envelope.event] : bindings(of: envelope.channel, to: envelope.event, upTo: number)
        let global = global.bindings(for: envelope)
        if global.isEmpty { return named }
        return named.isEmpty ? global : global + named
    }

    private mutating func bindings(of channel: Name?, to event: Name, upTo number: Int) -> [Binding] {
        guard boundToChannels > 0, let channel, let index = channels.index(forKey: channel) else { return [] }
        // In place: copying the listeners would cost more than everything else here.
        return Self.bindings(of: &channels.values[index], to: event, upTo: number)
    }

    private static func bindings(of listeners: inout ChannelListeners, to event: Name, upTo number: Int) -> [Binding] {
        listeners.number <= number ? listeners.bindings[event] : []
    }
}
