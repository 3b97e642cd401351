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

    let globalBindings = EventBindings()
    let user = UserListeners()
    let streams = EventStreams()
    let backlog: DeliveryBacklog
    private let policy: DeliveryPolicy
    private let now: @Sendable () -> MonotonicTime
    private let makeDecoder: @Sendable () -> JSONDecoder
    private let date: @Sendable (MonotonicTime) -> Date
    private let channels = Locked<[String: ChannelListeners]>([:])
    private let weakDelegate = Locked(WeakDelegate())

    init(policy: DeliveryPolicy, backlogLimit: Int, environment: PusherEnvironment) {
        self.policy = policy
        backlog = DeliveryBacklog(limit: backlogLimit)
        now = { environment.scheduler.now }
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
            if let known = channels[channel] { return known }
            let listeners = ChannelListeners()
            channels[channel] = listeners
            return listeners
        }
    }

    func knownListeners(of channel: String) -> ChannelListeners? {
        channels.withLock { $0[channel] }
    }

    /// All channels that somebody listens to, by name.
    var knownListeners: [String: ChannelListeners] { channels.withLock { $0 } }

    /// Nothing that comes later reaches the channel's listeners, which the caller lets go of.
    func forget(channel: String) -> ChannelListeners? {
        channels.withLock { $0.removeValue(forKey: channel) }
    }

    // MARK: Delivery

    /// Delivers what is to be delivered among the effects, in order, where the policy says. Calls of this method must not
    /// overlap.
    func deliver(_ effects: [Effect]) {
        // Asked once for all that one read brought.
        if streams.areThere { for case .deliver(let delivery) in effects { stream(delivery) } }
        switch policy {
        case .immediate: for case .deliver(let delivery) in effects { dispatch(delivery) }
        case .queue(let queue): enqueue(effects, on: queue)
        }
    }

    /// One hop for all of them.
    private func enqueue(_ effects: [Effect], on queue: DispatchQueue) {
        let (admitted, count, isNews) = backlog.admit(effects, at: now())
        if isNews { streams.consumersChanged() }
        guard count > 0 else { return }
        queue.async { [self] in
            for case .deliver(let delivery) in admitted { dispatch(delivery) }
            let (hasCaughtUp, losses) = backlog.delivered(count)
            for (channel, time) in losses.sorted(by: { $0.key < $1.key }) { dispatch(.gap(channel: channel, since: time)) }
            if hasCaughtUp { streams.consumersChanged() }
        }
    }

    /// Calls the closure when everything that waits now was delivered.
    func afterDeliveries(_ body: @escaping @Sendable () -> Void) {
        switch policy {
        case .immediate: body()
        case .queue(let queue): queue.async(execute: body)
        }
    }

    func pauseLimitReached() {
        streams.consumers.pauseLimitReached()
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
        case .queue(let queue): queue.async { [self] in delegate?.debugLog(message: message) }
        }
    }

    private func dispatch(_ delivery: Delivery) {
        switch delivery {
        case .event(let envelope):
            dispatch(PusherEvent(envelope: envelope, makeDecoder: makeDecoder))
        case .stateChanged(let old, let new, _):
            delegate?.changedConnectionState(from: old, to: new)
        case .subscribed(let channel):
            delegate?.subscribedToChannel(name: channel)
        case .gap(let channel, let time):
            delegate?.eventsMayBeMissing(channelName: channel, since: date(time))
        case .subscriptionFailed(let channel, let failure):
            dispatch(failure, of: channel)
        case .memberAdded(let channel, let member):
            knownListeners(of: channel)?.callbacks.memberAdded?(PusherPresenceChannelMember(member))
        case .memberRemoved(let channel, let member):
            knownListeners(of: channel)?.callbacks.memberRemoved?(PusherPresenceChannelMember(member))
        case .subscriptionCount(let channel, let count):
            knownListeners(of: channel)?.callbacks.subscriptionCountChanged?(count)
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

    private func dispatch(_ event: PusherEvent) {
        if let channel = event.channelName { knownListeners(of: channel)?.bindings.call(with: event) }
        globalBindings.call(with: event)
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
