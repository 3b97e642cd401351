// A model for views as its author wrote it for PusherSwift, on the main actor; only the import was changed.
import Foundation
import PusherChannels

/// A replacement for Combine's `Published` on platforms without it.
@propertyWrapper
struct Published<Value> {
    var wrappedValue: Value
}

struct Price: Decodable, Sendable {
    let symbol: String
    let price: Double
}

@MainActor
final class PricesModel {
    @Published private(set) var prices: [String: Double] = [:]
    @Published private(set) var isOnline = false
    @Published private(set) var watchers = 0
    private let pusher: Pusher
    private var bindings: [String: String] = [:]

    init(key: String) {
        pusher = Pusher(key: key, options: PusherClientOptions(host: .cluster("mt1")))
        pusher.connection.delegate = self
    }

    func start() {
        pusher.connect()
    }

    func watch(_ symbol: String) {
        let channel = pusher.subscribe(
            channelName: "prices-\(symbol)",
            onSubscriptionCountChanged: { [weak self] count in
                DispatchQueue.main.async { self?.watchers = count }
            })
        bindings[symbol] = channel.bind(eventName: "price") { [weak self] event in
            guard let data = event.data?.data(using: .utf8), let price = try? JSONDecoder().decode(Price.self, from: data) else {
                return
            }
            Task { @MainActor in self?.prices[price.symbol] = price.price }
        }
    }

    func unwatch(_ symbol: String) {
        guard let id = bindings.removeValue(forKey: symbol) else { return }
        pusher.connection.channels.find(name: "prices-\(symbol)")?.unbind(eventName: "price", callbackId: id)
        pusher.unsubscribe("prices-\(symbol)")
    }
}

extension PricesModel: PusherDelegate {
    nonisolated func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {
        Task { @MainActor in self.isOnline = new == .connected }
    }

    nonisolated func debugLog(message: String) {
        print(message)
    }
}
