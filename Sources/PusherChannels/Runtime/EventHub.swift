import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Brings what happened to whoever listens: bound closures, channel callbacks, the delegate.
final class EventHub: Sendable {
    private struct WeakDelegate {
        weak var delegate: (any PusherDelegate)?
    }

    private struct Channels {
        var listeners: [String: ChannelListeners] = [:]
        var listenersMade = 0
    }

    let globalBindings = EventBindings()
    let user = UserListeners()
    let streams = EventStreams()
    let backlog: DeliveryBacklog
    private let policy: DeliveryPolicy
    private let makeDecoder: @Sendable () -> JSONDecoder
    private let date: @Sendable (MonotonicTime) -> Date
    private let channels = Locked(Channels())
    private let weakDelegate = Locked(WeakDelegate())

    init(policy: DeliveryPolicy, backlogLimit: Int, environment: PusherEnvironment) {
        self.policy = policy
        backlog = DeliveryBacklog(limit: backlogLimit)
        streams.consumers.add(backlog)
        makeDecoder = environment.jsonDecoder
        date = environment.date
    }

    var delegate: (any PusherDelegate)? {
        get { weakDelegate.withLock { $0.delegate } }
        set { weakDelegate.withLock { $0.delegate = newValue } }
    }

    // MARK: Who listens to a channel

    /// The listeners of a channel, made when it is first asked for.
    func listeners(of channel: String) -> ChannelListeners {
        channels.withLock { channels in
            if let known = channels.listeners[channel] { return known }
            channels.listenersMade += 1
            let listeners = ChannelListeners(number: channels.listenersMade)
            channels.listeners[channel] = listeners
            return listeners
        }
    }

    func knownListeners(of channel: String) -> ChannelListeners? {
        channels.withLock { $0.listeners[channel] }
    }

    /// Those to whom a delivery belongs: who came after it, perhaps in the place of others, is not among them.
    private func listeners(of channel: String, madeUpTo number: Int) -> ChannelListeners? {
        knownListeners(of: channel).flatMap { $0.number <= number ? $0 : nil }
    }

    /// All channels that somebody listens to, by name.
    var knownListeners: [String: ChannelListeners] { channels.withLock { $0.listeners } }

    /// Nothing that comes later reaches the channel's listeners, which the caller lets go of.
    func forget(channel: String) -> ChannelListeners? {
        channels.withLock { $0.listeners.removeValue(forKey: channel) }
    }

    // MARK: Delivery

    /// Delivers what is to be delivered among the effects, in order, where the policy says. Calls of this method must not
    /// overlap.
    func deliver(_ effects: [Effect]) {
        // Asked once for all that one read brought.
        if streams.areThere { for case .deliver(let delivery) in effects { stream(delivery) } }
        switch policy {
        case .immediate: for case .deliver(let delivery) in effects { dispatch(delivery, toListenersUpTo: .max) }
        case .queue(let queue): enqueue(effects, on: queue)
        }
    }

    /// One hop for all of them.
    private func enqueue(_ effects: [Effect], on queue: DispatchQueue) {
        let (admitted, count, isNews) = backlog.admit(effects)
        if isNews { streams.consumersChanged() }
        guard count > 0 else { return }
        let made = channels.withLock { $0.listenersMade }
        queue.async { [self] in
            for case .deliver(let delivery) in admitted { dispatch(delivery, toListenersUpTo: made) }
            delivered(count)
        }
    }

    private func delivered(_ count: Int) {
        let (hasCaughtUp, losses, since) = backlog.delivered(count)
        for channel in losses.sorted() { dispatch(.gap(channel: channel, since: since), toListenersUpTo: .max) }
        if hasCaughtUp { streams.consumersChanged() }
    }

    /// Calls the closure when everything that waits now was delivered.
    func afterDeliveries(_ body: @escaping @Sendable () -> Void) {
        switch policy {
        case .immediate: body()
        case .queue(let queue): queue.async(execute: body)
        }
    }

    func pauseLimitReached(heardUpTo time: MonotonicTime) {
        streams.consumers.pauseLimitReached(heardUpTo: time)
        // Somebody may have got behind since the limit was reached: it was given up on with the others.
        streams.consumersChanged()
    }

    private func stream(_ delivery: Delivery) {
        switch delivery {
        case .event(let envelope), .userEvent(let envelope):
            streams.send(PusherEvent(envelope: envelope, makeDecoder: makeDecoder))
        case .stateChanged(let old, let new, let reason):
            streams.send(ConnectionStateChange(old: old, new: new, reason: reason))
        case .memberAdded(let channel, let member):
            streams.send(.joined(PusherPresenceChannelMember(member)), of: channel)
        case .memberRemoved(let channel, let member):
            streams.send(.left(PusherPresenceChannelMember(member)), of: channel)
        default:
            break
        }
    }

    func debugLog(_ message: String) {
        guard delegate != nil else { return }
        switch policy {
        case .immediate: delegate?.debugLog(message: message)
        case .queue(let queue):
            guard let isNews = backlog.admitLine() else { return }
            if isNews { streams.consumersChanged() }
            queue.async { [self] in
                delegate?.debugLog(message: message)
                delivered(1)
            }
        }
    }

    private func dispatch(_ delivery: Delivery, toListenersUpTo number: Int) {
        switch delivery {
        case .event(let envelope):
            let event = PusherEvent(envelope: envelope, makeDecoder: makeDecoder)
            if let channel = event.channelName { listeners(of: channel, madeUpTo: number)?.bindings.call(with: event) }
            globalBindings.call(with: event)
        case .stateChanged(let old, let new, _):
            delegate?.changedConnectionState(from: old, to: new)
        case .subscribed(let channel):
            delegate?.subscribedToChannel(name: channel)
        case .gap(let channel, let time):
            delegate?.eventsMayBeMissing(channelName: channel, since: date(time))
        case .subscriptionFailed(let channel, let failure):
            dispatch(failure, of: channel)
        case .memberAdded(let channel, let member):
            listeners(of: channel, madeUpTo: number)?.callbacks.memberAdded?(PusherPresenceChannelMember(member))
        case .memberRemoved(let channel, let member):
            listeners(of: channel, madeUpTo: number)?.callbacks.memberRemoved?(PusherPresenceChannelMember(member))
        case .subscriptionCount(let channel, let count):
            listeners(of: channel, madeUpTo: number)?.callbacks.subscriptionCountChanged?(count)
        case .signedIn(let userID):
            user.signInEnded(.success(userID))
            delegate?.signedIn(userId: userID)
        case .signInFailed(let error):
            user.signInEnded(.failure(error))
            delegate?.failedToSignIn(error: error)
        case .userEvent(let envelope):
            let event = PusherEvent(envelope: envelope, makeDecoder: makeDecoder)
            user.bindings.call(with: event)
            globalBindings.call(with: event)
        case .watchlist(let event):
            user.watchlistChanged(event)
        case .decryptionFailed(let channel, let event, let data):
            delegate?.failedToDecryptEvent(eventName: event, channelName: channel, data: data)
        case .error(let error):
            delegate?.receivedError(error: error)
        }
    }

    private func dispatch(_ failure: SubscriptionFailure, of channel: String) {
        guard let delegate else { return }
        var response: URLResponse?
        if let status = failure.authorisation?.status, let url = failure.authorisation?.url.flatMap(URL.init(string:)) {
            response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil)
        }
        delegate.failedToSubscribeToChannel(
            name: channel, response: response, data: failure.authorisation?.body, error: failure.error as NSError)
    }
}
