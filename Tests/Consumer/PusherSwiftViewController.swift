// A view controller as its author wrote it for PusherSwift, with its own delegate and closures; only the import was changed, and
// calls are requested on the main queue.
import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A class that is isolated to the main actor, like UIKit's.
@MainActor
class Screen {
    func viewDidLoad() {}
    func viewWillDisappear(_ animated: Bool) {}
}

class Label {
    var text: String?
}

struct Order: Codable {
    let id: Int
    let status: String
}

class OrdersViewController: Screen {
    let statusLabel = Label()
    var orders: [Order] = []
    var pusher: Pusher!
    private var channel: PusherChannel?
    private var callbackId: String?

    override func viewDidLoad() {
        super.viewDidLoad()
        let options = PusherClientOptions(
            authMethod: .endpoint(authEndpoint: "https://shop.example/pusher/auth"), host: .cluster("eu"), delivery: .queue(.main)
        )
        pusher = Pusher(key: "YOUR_APP_KEY", options: options)
        pusher.delegate = self
        pusher.connect()

        channel = pusher.subscribe("private-orders")
        callbackId = channel?.bind(
            eventName: "status",
            eventCallback: { [weak self] event in
                guard let data = event.data?.data(using: .utf8), let order = try? JSONDecoder().decode(Order.self, from: data)
                else { return }
                self?.show(order)  // Swift 5, 6: main actor
            })
        channel?.bind(eventName: "pusher:subscription_succeeded") { _ in
            self.statusLabel.text = "Live"  // Swift 5, 6: main actor
        }
        _ = pusher.bind(eventCallback: { [weak self] (event: PusherEvent) in
            self?.statusLabel.text = "\(event.eventName) on \(event.channelName ?? "no channel")"  // Swift 5, 6: main actor
        })
    }

    override func viewWillDisappear(_ animated: Bool) {
        super.viewWillDisappear(animated)
        if let callbackId = callbackId { channel?.unbind(eventName: "status", callbackId: callbackId) }
        pusher.unsubscribe("private-orders")
        pusher.disconnect()
    }

    private func show(_ order: Order) {
        orders.append(order)
        statusLabel.text = "Order \(order.id): \(order.status)"
    }
}

extension OrdersViewController: PusherDelegate {  // Swift 6: delegate
    func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {
        switch new {
        case .connected: statusLabel.text = "Connected"
        case .connecting, .reconnecting: statusLabel.text = "Connecting"
        case .disconnecting, .disconnected: statusLabel.text = "Offline"
        }
    }

    func subscribedToChannel(name: String) {
        statusLabel.text = "Subscribed to \(name)"
    }

    func failedToSubscribeToChannel(name: String, response: URLResponse?, data: String?, error: NSError?) {
        guard let status = (response as? HTTPURLResponse)?.statusCode, status == 403 else { return }
        statusLabel.text = error?.localizedDescription ?? data
    }

    func receivedError(error: PusherError) {
        statusLabel.text = "\(error.code ?? 0): \(error.message)"
    }
}
