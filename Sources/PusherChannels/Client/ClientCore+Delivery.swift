import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Calls to the listeners: bound closures, callbacks, and the delegate. They are made outside the lock, one after the other.
extension ClientCore {
    /// Deliveries with the closures that receive them, looked up for all of them at once.
    struct Deliveries {
        fileprivate struct Entry {
            let delivery: Delivery
            let bindings: [Binding]
        }

        fileprivate let entries: [Entry]
        /// The number of channel listeners made so far. Later ones don't get these deliveries.
        fileprivate let listenersMade: Int
        fileprivate let changes: Int
    }

    /// Looks up the receivers of deliveries among those who listened when they came.
    func resolve(_ batch: UndeliveredBatch, _ state: inout State) -> Deliveries {
        let number = batch.listenersMade
        var entries: [Deliveries.Entry] = []
        entries.reserveCapacity(batch.deliveries.count)
        for delivery in batch.deliveries {
            // Most events are of the same kind as the one before, and then for the same closures.
            let isSame = entries.count > 0 && entries[entries.count - 1].delivery.hasReceivers(of: delivery)
            let bindings = isSame ? entries[entries.count - 1].bindings : Self.bindings(for: delivery, upTo: number, &state)
            entries.append(Deliveries.Entry(delivery: delivery, bindings: bindings))
        }
        return Deliveries(entries: entries, listenersMade: number, changes: calls.changes.current)
    }

    private static func bindings(for delivery: Delivery, upTo number: Int, _ state: inout State) -> [Binding] {
        guard let envelope = delivery.envelope else { return [] }
        let isOfUser = if case .userEvent = delivery { true } else { false }
        return state.listeners.bindings(for: envelope, ofUser: isOfUser, upTo: number)
    }

    func deliver(_ deliveries: Deliveries) {
        for entry in deliveries.entries {
            if let envelope = entry.delivery.envelope { tell(envelope, entry, deliveries) }
            call(entry.delivery, upTo: deliveries.listenersMade)
        }
    }

    /// Calls the closures that are bound to an event right now: one may have been unbound since, or may unbind another.
    private func tell(_ envelope: Envelope, _ entry: Deliveries.Entry, _ deliveries: Deliveries) {
        let lookUpAgain = { self.withState { Self.bindings(for: entry.delivery, upTo: deliveries.listenersMade, &$0) } }
        var changes = calls.changes.current
        let bindings = changes == deliveries.changes ? entry.bindings : lookUpAgain()
        if bindings.isEmpty { return }
        let event = PusherEvent(envelope: envelope, decoder: calls.decoder)
        /// The closures that are left, if the listeners have changed since the first of them was called.
        var left: Set<Name>?
        for binding in bindings {
            let current = calls.changes.current
            if current != changes { (changes, left) = (current, Set(lookUpAgain().map { Name($0.id) })) }
            if left?.contains(Name(binding.id)) != false { binding.callback(event) }
        }
    }

    /// Calls the receivers of a notification that isn't an event.
    func call(_ delivery: Delivery, upTo number: Int) {
        switch delivery {
        case .event, .userEvent, .recovered:
            break
        case .stateChanged(let old, let new, _):
            delegate?.changedConnectionState(from: old, to: new)
        case .subscribed(let channel, _):
            delegate?.subscribedToChannel(name: channel.text)
        case .gap(let channel, let time):
            delegate?.eventsMayBeMissing(channelName: channel.text, since: environment.date(time))
        case .subscriptionFailed(let channel, let failure):
            call(failure, of: channel)
        case .memberAdded(let channel, let member):
            callbacks(of: channel, upTo: number)?.memberAdded?(PusherPresenceChannelMember(member))
        case .memberRemoved(let channel, let member):
            callbacks(of: channel, upTo: number)?.memberRemoved?(PusherPresenceChannelMember(member))
        case .subscriptionCount(let channel, let count):
            callbacks(of: channel, upTo: number)?.subscriptionCountChanged?(count)
        case .signedIn(let userID):
            for callback in takeEndedSignIns() { callback(.success(userID.text)) }
            delegate?.signedIn(userID: userID.text)
        case .signInFailed(let error):
            for callback in takeEndedSignIns() { callback(.failure(error)) }
            delegate?.failedToSignIn(error: error)
        case .watchlist(let event):
            for id in readState({ $0.listeners.user.watchers(of: event.name) }) {
                // The one before may have taken it back.
                readState { $0.listeners.user.watchers[id]?.callback }?(event.userIDs)
            }
        case .decryptionFailed(let channel, let event, let data, _):
            delegate?.failedToDecryptEvent(eventName: event.text, channelName: channel.text, data: data)
        case .serverError(let error):
            delegate?.receivedError(error: error)
        case .report(let error):
            delegate?.clientReported(error: error)
        }
    }

    private func callbacks(of channel: Name, upTo number: Int) -> ChannelCallbacks? {
        readState { $0.listeners.listeners(of: channel, upTo: number)?.callbacks }
    }

    private func takeEndedSignIns() -> [UserListeners.SignInCallback] {
        withState { $0.listeners.user.takeEndedSignIns() }
    }

    private func call(_ failure: SubscriptionFailure, of channel: Name) {
        guard let delegate else { return }
        var response: URLResponse?
        if let status = failure.authorization?.status, let url = failure.authorization?.url.flatMap(URL.init(string:)) {
            response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil)
        }
        delegate.failedToSubscribeToChannel(name: channel.text, error: failure.error)
        delegate.failedToSubscribeToChannel(
            name: channel.text, response: response, data: failure.authorization?.body, error: failure.foundationError)
    }
}

extension SubscriptionFailure {
    /// The error for a delegate's method that gets Foundation's errors: if the network failed, one that looks like that of a
    /// `URLSession`.
    fileprivate var foundationError: NSError {
        let own = error as NSError
        let timeout = error.kind == .timedOut ? AuthorizationFailure.NetworkFailure(code: NSURLErrorTimedOut, cause: nil) : nil
        guard let network = authorization?.network ?? timeout else { return own }
        let info = own.userInfo.merging([NSUnderlyingErrorKey: network.cause ?? error]) { $1 }
        return NSError(domain: NSURLErrorDomain, code: network.code, userInfo: info)
    }
}

extension Delivery {
    /// Indicates whether both are events, for the same closures.
    fileprivate func hasReceivers(of other: Delivery) -> Bool {  // not a mutant: otherwise they are looked up again
        guard case .event(let event) = self, case .event(let otherEvent) = other else { return false }
        return event.event == otherEvent.event && event.channel == otherEvent.channel
    }
}
