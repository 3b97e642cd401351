import Foundation
import PusherChannels

/// A call of a client's delegate, as a value to wait for.
enum ClientNotification: Sendable {
    case state(ConnectionState)
    case subscribed(String)
    case gap(String, since: Date)
    case subscriptionFailed(String, PusherError)
    case decryptionFailed(String, event: String)
    case error(PusherError)
    case event(PusherEvent)
    case memberAdded(String, to: String)
    case memberRemoved(String, from: String)
    /// The process was asked to end, by this signal.
    case interrupted(Int32)
    case signedIn(Result<String, PusherError>)
    case webhook(PusherWebhook.Event)
    /// The time for a step is over.
    case timeUp(step: Int)
}

/// Turns a client's delegate calls into a stream.
final class ClientNotifications: PusherDelegate, Sendable {
    let stream: AsyncStream<ClientNotification>
    private let continuation: AsyncStream<ClientNotification>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func add(_ notification: ClientNotification) {
        continuation.yield(notification)
    }

    /// Subscribes a client to a channel, and adds notifications of members who come and go.
    @discardableResult
    func subscribe(_ pusher: Pusher, to channel: String) -> PusherChannel {
        pusher.subscribe(
            channel,
            onMemberAdded: { [self] in add(.memberAdded($0.userID, to: channel)) },
            onMemberRemoved: { [self] in add(.memberRemoved($0.userID, from: channel)) })
    }

    /// Disconnects a client and waits until it is disconnected: a process that ends earlier leaves the server a broken
    /// connection.
    func end(_ pusher: Pusher) async {
        pusher.disconnect()
        for await notification in stream {
            if case .state(.disconnected) = notification { return }
        }
    }

    func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {
        add(.state(new))
    }

    func subscribedToChannel(name: String) {
        add(.subscribed(name))
    }

    func eventsMayBeMissing(channelName: String, since: Date) {
        add(.gap(channelName, since: since))
    }

    func failedToSubscribeToChannel(name: String, error: PusherError) {
        add(.subscriptionFailed(name, error))
    }

    func failedToDecryptEvent(eventName: String, channelName: String, data: String?) {
        add(.decryptionFailed(channelName, event: eventName))
    }

    func receivedError(error: PusherError) {
        add(.error(error))
    }

    func clientReported(error: PusherError) {
        add(.error(error))
    }
}
