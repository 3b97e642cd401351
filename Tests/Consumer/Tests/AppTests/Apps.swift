import Foundation
import Logging
import PusherTestSupport

/// An app that makes its own client, as in the README. It knows nothing of tests except that its environment is passed in.
final class OrderFeed: Sendable {
    let pusher: Pusher
    let orders: PusherChannel

    init(_ environment: PusherEnvironment = .live, onOrder: @escaping @Sendable (String) -> Void) {
        pusher = Pusher(
            key: "app-key",
            options: PusherClientOptions(
                authMethod: .endpoint(authEndpoint: "https://api.example.com/broadcasting/auth"), host: .cluster("eu")),
            environment: environment)
        orders = pusher.subscribe("private-orders")
        orders.bind(eventName: "placed") { event in onOrder(event.data ?? "") }
        pusher.connect()
    }
}

/// An app that asks its own backend for signatures, and logs.
final class OrderDesk: Sendable {
    let pusher: Pusher
    let orders: PusherChannel

    init(_ environment: PusherEnvironment, logger: Logger, sign: @escaping @Sendable (String, String) async throws -> PusherAuth)
    {
        let options = PusherClientOptions(
            authMethod: .customHandler { socketID, channel in
                logger.info("asks to be let in", metadata: ["channel": "\(channel)"])
                return try await sign(socketID, channel)
            }, delivery: .immediate)
        pusher = Pusher(key: ServerApp.local.key, options: options, environment: environment)
        orders = pusher.subscribe("private-orders")
        pusher.connect()
    }
}

/// The texts received, on any thread.
final class Inbox: @unchecked Sendable {
    private let lock = NSLock()
    private var texts: [String] = []

    var all: [String] { lock.withLock { texts } }
    func add(_ text: String) { lock.withLock { texts.append(text) } }
}
