/// Listeners, and the other work that the API's objects do for the application.
extension ClientCore {
    typealias Callback = @Sendable (PusherEvent) -> Void

    var delegate: (any PusherDelegate)? {
        get { readState(\.listeners.delegate) }
        set {
            let replaced = changeListeners { state in
                defer { state.listeners.setDelegate(newValue) }
                return state.listeners.mainActorDelegate
            }
            replaced?.forget()
            guard let newValue, let onDelegate = environment.onDelegate else { return }
            onDelegate((newValue as? MainActorDelegate)?.delegate ?? newValue) { [weak self] in self != nil }
        }
    }

    var mainActorDelegate: (any MainActorPusherDelegate)? {
        get { readState(\.listeners.mainActorDelegate)?.delegate }
        set {
            // Setting the same delegate again doesn't cancel the calls on their way to it.
            if let newValue, newValue === mainActorDelegate { return }
            delegate = newValue.map { delegate in
                MainActorDelegate(delegate, deliveryQueue: calls.queue) { [weak self] in
                    self?.noteWaitingOnMain($0, bytes: $1)
                }
            }
        }
    }

    private func changeListeners<Result>(_ body: (inout State) -> Result) -> Result {
        change { state in
            calls.changes.increment()
            return body(&state)
        }
    }

    // MARK: Channels

    /// Adds a channel's listeners and requests the channel; returns the listeners' number.
    ///
    /// This is one step, as giving a channel up is: another thread, or a deinitializer that runs when a callback is replaced, may
    /// give the channel up meanwhile.
    func subscribe(_ channel: Name, auth: PusherAuth?, callbacks: ChannelCallbacks) -> Int {
        change { state, now in subscribe(channel, auth: auth, callbacks: callbacks, &state, at: now) }
    }

    func subscribe(
        _ channel: Name, auth: PusherAuth?, after position: StreamPosition? = nil, _ options: SubscriptionOptions? = nil,
        callbacks: ChannelCallbacks, _ state: inout State, at now: Instant
    ) -> Int {
        calls.changes.increment()
        let number = state.listeners.request(channel)
        if let replaced = state.listeners.update(channel, callbacks) { state.removed.append(replaced) }
        state.handle(.subscribe(channel: channel, auth: auth, after: position, options: options), at: now)
        return number
    }

    /// Gives a channel up. Nothing that comes later reaches its listeners.
    func unsubscribe(_ channel: Name) {
        _ = move(channel)
    }

    /// Gives a channel up, and returns its state for another connection to take over.
    func move(_ channel: Name) -> SubscriptionMachine? {
        change { state, now in remove(channel, &state, at: now) }
    }

    /// Gives a channel up unless somebody else has requested it since its handle was made.
    func withdraw(_ channel: Name, number: Int) {
        change { state, now in
            if state.listeners.withdrawRequest(for: channel, number: number) { _ = remove(channel, &state, at: now) }
        }
    }

    private func remove(_ channel: Name, _ state: inout State, at now: Instant) -> SubscriptionMachine? {
        calls.changes.increment()
        let moved = state.machine.stateToMove(of: channel, at: now)
        state.handle(.unsubscribe(channel: channel), at: now)
        if let removed = state.listeners.removeChannel(channel) { state.removed.append(removed) }
        readers.change { streams in
            streams.finish(ofChannel: channel)
            _ = streams.updates.takeUnreadSince(of: channel)
            // A shutdown gives all channels up, and its readers go on to the end.
            if !state.machine.isShutDown { streams.forgetPlaces(of: channel) }
        }
        state.waits.subscriptions.end(of: channel, .unsubscribed(channel))
        return moved
    }

    func adopt(_ subscription: SubscriptionMachine) {
        change { state, now in
            calls.changes.increment()
            _ = state.listeners.request(subscription.channel)
            state.handle(.adopt(subscription), at: now)
        }
    }

    /// The channels that were subscribed to, by name, with the number of each one's listeners.
    var channels: [(name: Name, number: Int)] {
        readState { $0.listeners.channels.map { ($0.key, $0.value.number) } }.sorted { $0.0 < $1.0 }
    }

    func channel(_ name: Name) -> Int? {
        readState { $0.listeners.channels[name]?.number }
    }

    /// Returns the application's object for a channel, which stays the same for as long as somebody holds it.
    func object<Object: AnyObject & Sendable>(for channel: Name, number: Int, _ new: Object) -> Object {
        withState { $0.listeners.object(for: channel, number: number, new) }
    }

    func callbacks(of channel: Name, number: Int) -> ChannelCallbacks? {
        readState { state in
            state.listeners.channels[channel].flatMap { $0.number == number ? $0.callbacks : nil }
        }
    }

    func setCallback<Value: Sendable>(
        _ callback: WritableKeyPath<ChannelCallbacks, Value>, _ value: Value, of channel: Name, number: Int
    ) {
        changeListeners { state in
            guard let replaced = state.listeners.replace(callback, value, of: channel, number: number) else { return }
            state.removed.append(replaced)
        }
    }

    /// Reads from a channel for the handle whose listeners have this number; returns nil if the channel was given up.
    func read<Result>(_ channel: Name, _ number: Int, _ body: (ConnectionMachine, SubscriptionMachine) -> Result) -> Result? {
        readState { state in
            guard state.listeners.channels[channel]?.number == number, let subscription = state.machine.subscriptions[channel]
            else { return nil }
            return body(state.machine, subscription)
        }
    }

    func trigger(_ event: ClientEvent, number: Int) -> TriggerResult {
        change { state, now in
            // All channels of a client that was shut down are unsubscribed, and subscribing again doesn't help.
            guard state.machine.isShutDown || state.listeners.channels[event.channel]?.number == number else {
                let problem = "\(event.channel) was unsubscribed; subscribing to it again gives a channel to trigger events on"
                return state.refuse(event.name, on: event.channel, because: problem)
            }
            return state.machine.trigger(event, at: now)
        }
    }

    /// Refuses a client event that can't be made.
    func refuse(_ eventName: String, on channel: Name, because problem: String) -> TriggerResult {
        change { $0.refuse(eventName, on: channel, because: problem) }
    }

    // MARK: Closures

    func bind(_ place: BindingPlace, _ callback: @escaping Callback) -> String {
        changeListeners { state in
            let binding = state.listeners.makeBinding(callback)
            state.listeners.add(binding, to: place)
            return binding.id
        }
    }

    func unbind(_ place: BindingPlace, id: String) {
        changeListeners { state in
            if let removed = state.listeners.remove(id, from: place) { state.removed.append(removed) }
        }
    }

    /// Unbinds everything that was bound to a place.
    func unbindAll(_ place: BindingPlace) {
        changeListeners { $0.removed.append($0.listeners.removeAll(from: place)) }
    }

    /// Unbinds everything that was bound to any event of a channel.
    func unbindAll(ofChannel channel: Name, number: Int) {
        changeListeners { state in
            if let removed = state.listeners.removeAll(ofChannel: channel, number: number) { state.removed.append(removed) }
        }
    }

    func unbindAllOfUser() {
        changeListeners { $0.removed.append($0.listeners.removeAllOfUser()) }
    }

    // MARK: The user

    /// Calls back once, with the outcome of the next sign-in to end; returns a number for ``forgetSignIn(_:)``.
    @discardableResult
    func signIn(_ callback: @escaping UserListeners.SignInCallback) -> Int {
        change { state, now in
            let id = state.listeners.makeID()
            state.listeners.user.signIns.append((id, callback))
            state.machine.handle(.signIn, at: now)
            return id
        }
    }

    func forgetSignIn(_ id: Int) {
        change { state in
            guard let index = state.listeners.user.signIns.firstIndex(where: { $0.id == id }) else { return }
            state.removed.append(state.listeners.user.signIns.remove(at: index).callback)
        }
    }

    func watch(_ event: Name, _ callback: @escaping UserListeners.WatchlistCallback) -> Int {
        change { state in
            let id = state.listeners.makeID()
            state.listeners.user.watchers[id] = (event, callback)
            return id
        }
    }

    func unwatch(_ id: Int) {
        change { state in
            if let removed = state.listeners.user.watchers.removeValue(forKey: id) { state.removed.append(removed.callback) }
        }
    }
}

extension ClientCore.State {
    fileprivate mutating func refuse(_ eventName: String, on channel: Name, because problem: String) -> TriggerResult {
        let error = PusherError(.invalidRequest, message: problem)
        machine.outputs.append(.log(.notTriggered(Name(eventName), channel: channel, error)))
        return .refused(error)
    }
}
