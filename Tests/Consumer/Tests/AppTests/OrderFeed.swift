import Foundation
import PusherTestSupport

/// An app that makes its own client, as the README does; it knows nothing of tests but where its surroundings come from.
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

/// What came, from whatever thread.
final class Inbox: @unchecked Sendable {
    private let lock = NSLock()
    private var texts: [String] = []

    var all: [String] { lock.withLock { texts } }
    func add(_ text: String) { lock.withLock { texts.append(text) } }
}
