import Foundation

/// A channel that the application subscribed to: its state, and the closures bound to its events.
///
/// A channel object is a handle that keeps the connection alive. Subscribing twice returns the same object as long as something
/// holds it. All members may be used from any thread. After ``Pusher/unsubscribe(_:)`` the handle stays idle: it isn't
/// ``subscribed``, closures bound to it aren't called, and ``trigger(eventName:data:)-(_,Any)`` refuses. Subscribing again makes
/// a new handle.
///
/// `@unchecked` only because the class has a subclass: all it stores is immutable and `Sendable`.
public class PusherChannel: @unchecked Sendable {
    /// The channel's name, prefix included.
    public var name: String { channel.text }

    let client: PusherConnection
    let channel: Name
    /// The number that identifies the listeners that the channel had when this handle was made. The handle is idle when they are
    /// gone.
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

    private func place(_ eventName: String) -> BindingPlace {
        .channel(channel, number: number, event: Name(eventName))
    }

    // MARK: State

    /// The channel's type, determined by its name.
    public var type: PusherChannelType { PusherChannelType(name: name) }

    /// Indicates whether the server has confirmed the subscription on the current connection.
    public var subscribed: Bool { read(\.isSubscribed) ?? false }

    /// Indicates whether the subscription failed and isn't being retried. It is made again on the next connection, or when the
    /// application subscribes again. False while the subscription is in progress or waiting for a retry; true for an idle handle.
    public var hasFailed: Bool { read { $0.state == .failed } ?? true }

    /// The number of subscribed connections, if the server reports it (an option of the app, never on presence channels).
    public var subscriptionCount: Int? { read(\.subscriptionCount) ?? nil }

    /// The connection that the channel is on. Never nil, because a handle keeps its connection alive; optional because
    /// PusherSwift's may be nil.
    public var connection: PusherConnection? { client }

    /// The authorization that was passed when subscribing, until it is used.
    public var auth: PusherAuth? { read(\.suppliedAuth) ?? nil }

    // MARK: Events

    /// Calls the closure with every event of this name on the channel. Returns an id to unbind it with.
    ///
    /// The protocol's own events can be bound to under their public names, such as `pusher:subscription_succeeded`.
    @preconcurrency
    @discardableResult
    public func bind(eventName: String, eventCallback: @escaping @Sendable (PusherEvent) -> Void) -> String {
        client.core.bind(place(eventName), eventCallback)
    }

    /// Removes the closure that ``bind(eventName:eventCallback:)`` bound under this id.
    public func unbind(eventName: String, callbackId: String) {
        client.core.unbind(place(eventName), id: callbackId)
    }

    /// Removes all closures that are bound to events of this name.
    public func unbindAll(forEventName eventName: String) {
        client.core.unbindAll(place(eventName))
    }

    /// Removes all closures that are bound to the channel's events.
    public func unbindAll() {
        client.core.unbindAll(ofChannel: channel, number: number)
    }

    /// Sends an event to the channel's other subscribers and returns the outcome. A refused event is also logged: at level
    /// `warning`, or `debug` if there are only too many events at the time.
    ///
    /// Client events are only for private and presence channels, not for encrypted ones, and their names begin with `client-`.
    /// Until the subscription is confirmed, events wait, a hundred at most. `data` is encoded as JSON with the environment's
    /// encoder.
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

    /// Sends a client event with data that `JSONSerialization` accepts, as in PusherSwift.
    @discardableResult
    public func trigger(eventName: String, data: Any) -> TriggerResult {
        guard let json = Data(json: data) else {
            return client.core.refuse(eventName, on: channel, because: "the data of \(eventName) is not JSON")
        }
        return trigger(eventName, json: json)
    }

    func trigger(_ eventName: String, json: Data) -> TriggerResult {
        let event = ClientEvent(name: eventName, channel: channel, data: String(decoding: json, as: UTF8.self))
        return client.core.trigger(event, number: number)
    }
}
