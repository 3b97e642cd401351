import Foundation

/// A channel that the application asked for: what is bound to its events, and what is known of it.
///
/// It is a handle, which keeps the connection alive: to subscribe twice gives the same object, as long as somebody holds it. All
/// members may be used from any thread. After ``Pusher/unsubscribe(_:)`` the handle is idle for good: it isn't ``subscribed``, what is
/// bound to it hears nothing, and ``trigger(eventName:data:)-(_,Any)`` refuses; subscribing again makes a new one.
///
/// `@unchecked` only because the class has a subclass: all it stores is immutable and `Sendable`.
public class PusherChannel: @unchecked Sendable {
    /// The channel's name, prefix included.
    public var name: String { channel.text }

    let client: PusherConnection
    let channel: Name
    /// Of the listeners that the channel had when this handle was made: it is idle when they are gone.
    let number: Int

    init(_ channel: Name, _ number: Int, _ connection: PusherConnection) {
        self.channel = channel
        self.number = number
        client = connection
    }

    func read<Result>(_ body: (SubscriptionMachine) -> Result) -> Result? {
        client.core.read(channel, number) { body($1) }
    }

    func readConnection<Result>(_ body: (ConnectionMachine, SubscriptionMachine) -> Result) -> Result? {
        client.core.read(channel, number, body)
    }

    private func place(_ eventName: String) -> ClientCore.BindingPlace {
        .channel(channel, number: number, event: Name(eventName))
    }

    // MARK: State

    /// The channel's type, which its name tells.
    public var type: PusherChannelType { PusherChannelType(name: name) }

    /// Indicates whether the server has confirmed the subscription on the connection that is up now.
    public var subscribed: Bool { read(\.isSubscribed) ?? false }

    /// Indicates whether the subscription failed for good: it is asked for again with the next connection, or when the application
    /// subscribes once more. False while it is on its way, and while it waits to be tried again; true for a handle that is idle.
    public var hasFailed: Bool { read { $0.state == .failed } ?? true }

    /// The number of connections that are subscribed, if the server tells (an option of the app, never on presence channels).
    public var subscriptionCount: Int? { read(\.subscriptionCount) ?? nil }

    /// The connection that the channel is on. Never nil, as a handle keeps its connection alive; PusherSwift's may be.
    public var connection: PusherConnection? { client }

    /// The authorization that came with the subscription, as long as it wasn't used.
    public var auth: PusherAuth? { read(\.suppliedAuth) ?? nil }

    // MARK: Events

    /// Calls the closure with every event of this name on the channel; gives an id to take it back with.
    ///
    /// The protocol's own events can be bound to under their public names, such as `pusher:subscription_succeeded`.
    @preconcurrency
    @discardableResult
    public func bind(eventName: String, eventCallback: @escaping @Sendable (PusherEvent) -> Void) -> String {
        client.core.bind(place(eventName), eventCallback)
    }

    /// Takes back what ``bind(eventName:eventCallback:)`` bound under this id.
    public func unbind(eventName: String, callbackId: String) {
        client.core.unbind(place(eventName), id: callbackId)
    }

    /// Takes back all that was bound to events of this name.
    public func unbindAll(forEventName eventName: String) {
        client.core.unbindAll(place(eventName))
    }

    /// Takes back all that was bound to the channel's events.
    public func unbindAll() {
        client.core.unbindAll(ofChannel: channel, number: number)
    }

    /// Sends an event to the channel's other subscribers; says what became of it. An event that is refused has a line in the log, too: of
    /// level `warning`, or `debug` for events that are only too many at the time.
    ///
    /// Only on private and presence channels, not on encrypted ones, and with a name that begins with `client-`. Before the
    /// subscription is confirmed events wait, a hundred at most. `data` becomes a JSON value, encoded with the environment's encoder.
    @discardableResult
    public func trigger(eventName: String, data: some Encodable) -> TriggerResult {
        do {
            let json = try client.environment.jsonEncoder().encode(data)
            return trigger(eventName, json: json)
        } catch {
            return client.core.refuse(
                eventName, on: channel, because: "the data of \(eventName) can't be encoded: \(text(of: error))")
        }
    }

    /// Sends a client event with data that `JSONSerialization` accepts, as PusherSwift takes it.
    @discardableResult
    public func trigger(eventName: String, data: Any) -> TriggerResult {
        guard let json = Data(json: data) else {
            return client.core.refuse(eventName, on: channel, because: "the data of \(eventName) is not JSON")
        }
        return trigger(eventName, json: json)
    }

    private func trigger(_ eventName: String, json: Data) -> TriggerResult {
        let event = ClientEvent(name: eventName, channel: channel, data: String(decoding: json, as: UTF8.self))
        return client.core.trigger(event, number: number)
    }
}
