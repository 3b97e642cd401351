import Foundation

/// A channel that the application asked for: what is bound to its events, and what is known of it.
///
/// It is a handle: all handles of a channel share one state, and each keeps the connection alive. All members may be used from
/// any thread. After ``Pusher/unsubscribe(_:)`` the handle is idle; subscribing again makes a new one.
///
/// `@unchecked` only because the class has a subclass: all it stores is immutable and `Sendable`.
public class PusherChannel: @unchecked Sendable {
    /// The channel's name, prefix included.
    public let name: String

    let connection: PusherConnection

    let listeners: ChannelListeners
    private let driver: ConnectionDriver

    init(name: String, connection: PusherConnection, listeners: ChannelListeners) {
        self.name = name
        self.connection = connection
        self.listeners = listeners
        driver = connection.driver
    }

    func read<Result>(_ body: (SubscriptionMachine) -> Result) -> Result? {
        driver.read { $0.subscriptions[name].map(body) }
    }

    func readConnection<Result>(_ body: (ConnectionMachine, SubscriptionMachine) -> Result) -> Result? {
        driver.read { machine in machine.subscriptions[name].map { body(machine, $0) } }
    }

    // MARK: State

    /// What kind of channel it is.
    public var type: PusherChannelType { PusherChannelType(name: name) }

    /// Whether the server has confirmed the subscription on the connection that is up now.
    public var subscribed: Bool { read(\.isSubscribed) ?? false }

    /// How many connections are subscribed, if the server tells (an option of the app, never on presence channels).
    public var subscriptionCount: Int? { read(\.subscriptionCount) ?? nil }

    // MARK: Events

    /// Calls the closure with every event of this name on the channel; gives an id to take it back with.
    ///
    /// The protocol's own events can be bound to under their public names, such as `pusher:subscription_succeeded`.
    @preconcurrency
    @discardableResult
    public func bind(eventName: String, eventCallback: @escaping @Sendable (PusherEvent) -> Void) -> String {
        listeners.bindings.bind(eventName, eventCallback)
    }

    /// Takes back what ``bind(eventName:eventCallback:)`` bound under this id.
    public func unbind(eventName: String, callbackId: String) {
        listeners.bindings.unbind(eventName, id: callbackId)
    }

    /// Takes back all that was bound to events of this name.
    public func unbindAll(forEventName eventName: String) {
        listeners.bindings.unbindAll(of: eventName)
    }

    /// Takes back all that was bound to the channel's events.
    public func unbindAll() {
        listeners.bindings.unbindAll()
    }

    /// Sends an event to the channel's other subscribers; says what became of it.
    ///
    /// Only on private and presence channels, not on encrypted ones, and with a name that begins with `client-`. Before the
    /// subscription is confirmed events wait, a hundred at most. `data` becomes a JSON value, encoded with the environment's encoder.
    @discardableResult
    public func trigger(eventName: String, data: some Encodable) -> TriggerResult {
        do {
            let json = try connection.environment.jsonEncoder().encode(data)
            return trigger(eventName, json: json)
        } catch {
            return .refused(PusherError(.invalidRequest, message: "the data of \(eventName) can't be encoded: \(error)"))
        }
    }

    /// The same with data that `JSONSerialization` accepts, as PusherSwift takes it.
    @discardableResult
    public func trigger(eventName: String, data: Any) -> TriggerResult {
        guard let json = Data(json: data) else {
            return .refused(PusherError(.invalidRequest, message: "the data of \(eventName) is not JSON"))
        }
        return trigger(eventName, json: json)
    }

    private func trigger(_ eventName: String, json: Data) -> TriggerResult {
        driver.trigger(ClientEvent(name: eventName, channel: name, data: String(decoding: json, as: UTF8.self)))
    }
}
