import Dispatch
import Foundation
import PusherChannels

/// A client whose notifications can be waited for.
final class DemoClient {
    let pusher: Pusher
    let notifications = ClientNotifications()
    private var iterator: AsyncStream<ClientNotification>.Iterator

    /// The number of the step that has a time limit.
    private var step = 0

    init(key: String = "local-key", options: PusherClientOptions) {
        iterator = notifications.stream.makeAsyncIterator()
        pusher = Pusher(key: key, options: options)
        pusher.delegate = notifications
        pusher.bind { [notifications] in notifications.add(.event($0)) }
    }

    deinit {
        // Otherwise, a demo that fails would also log that nothing refers to its clients.
        pusher.disconnect()
    }

    func subscribe(_ channel: String) {
        notifications.subscribe(pusher, to: channel)
    }

    func presence(_ channel: String) -> PusherPresenceChannel? {
        pusher.connection.channels.findPresence(name: channel)
    }

    /// Limits the time of all waits from now on, until this is called again.
    func limit(to seconds: Double) {
        step += 1
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [notifications, step] in
            notifications.add(.timeUp(step: step))
        }
    }

    /// Waits for a notification that the closure recognizes, and skips all others.
    func wait<Value>(for recognize: (ClientNotification) throws -> Value?) async throws -> Value {
        while let notification = await iterator.next(isolation: nil) {
            if case .timeUp(step: step) = notification { throw Failure("it didn't happen in time") }
            if let value = try recognize(notification) { return value }
        }
        throw Failure("the client ended")
    }

    /// Waits for the first connection. Any error ends the wait, because it means that the address or the route is wrong, and
    /// another attempt doesn't help.
    func waitForFirstConnection() async throws {
        try await wait { notification in
            switch notification {
            case .state(.connected): ()
            case .error(let error): throw error
            default: nil
            }
        }
    }

    func waitForSubscriptions(_ channels: Set<String>) async throws {
        var missing = channels
        while !missing.isEmpty {
            missing.remove(
                try await wait {
                    if case .subscribed(let channel) = $0 { channel } else { nil }
                })
        }
    }

    func waitForState(_ state: ConnectionState) async throws {
        try await wait { if case .state(state) = $0 { () } else { nil } }
    }

    func waitForEvent(_ name: String) async throws -> PusherEvent {
        try await wait { if case .event(let event) = $0, event.eventName == name { event } else { nil } }
    }
}
