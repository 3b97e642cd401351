import Configuration
import Foundation
import Logging
import PusherChannels
import ServiceLifecycle

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Follows the channel `orders`: gets all orders from the application's own API, and then writes a line for each new one. Whenever
/// some may have been missed, it gets them all again. On SIGTERM it handles what it has already read, then ends.
@main
enum Daemon {
    static func main() async {
        do {
            try await run()
        } catch {
            // An error thrown out of `main` would end the process like a crash.
            Logger(label: "daemon").critical("\(error)")
            exit(isOfSettings(error) ? EX_CONFIG : EXIT_FAILURE)
        }
    }

    /// Indicates whether somebody has to fix something first, such as a wrong key. systemd must not restart the daemon for such
    /// an error.
    private static func isOfSettings(_ error: any Error) -> Bool {
        guard let error = error as? PusherError else { return error is OrdersAPI.NoAddress }
        // These may resolve by themselves: the app may fall below its connection quota (4004), and a refused channel may be
        // allowed later.
        return !error.isRetryable && error.code != 4004 && ![.authorization, .subscriptionRefused].contains(error.kind)
    }

    private static func run() async throws {
        let pusher = try Pusher(config: ConfigReader(provider: EnvironmentVariablesProvider()))
        let api = try OrdersAPI()
        let orders = Orders(steps: pusher.follow("orders") { try await api.orders() })
        // Services are asked to end from the last to the first: the reader before the client.
        let group = ServiceGroup(
            services: [pusher, orders], gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "daemon"))
        try await group.run()
    }
}

struct Order: Decodable {
    let id: Int
}

/// The application's own API, which has all orders at the address `ORDERS_URL`.
struct OrdersAPI {
    struct NoAddress: Error, CustomStringConvertible {
        let address: String

        var description: String { "ORDERS_URL is \"\(address)\", not an address such as http://127.0.0.1:8000/orders" }
    }

    struct Refused: Error {
        let status: Int
    }

    private let url: URL

    init() throws {
        let address = ProcessInfo.processInfo.environment["ORDERS_URL"] ?? ""
        guard let url = URL(string: address), url.host != nil else { throw NoAddress(address: address) }
        self.url = url
    }

    func orders() async throws -> [Order] {
        let (data, response) = try await URLSession.shared.data(from: url)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard status == 200 else { throw Refused(status: status) }
        return try JSONDecoder().decode([Order].self, from: data)
    }
}

/// Handles the orders.
struct Orders: Service {
    let steps: FollowStream<[Order]>

    func run() async throws {
        for try await step in steps {
            switch step {
            case .state(let orders, let reason): write("\(orders.count) orders (\(reason))")
            case .event(let event) where event.eventName == "placed": handle(event)
            case .event: break
            case .failed(let error): write("tried again: \(error)")
            }
        }
        write("done")
    }

    /// Handles an order. One that can't be read is no reason to stop.
    private func handle(_ event: PusherEvent) {
        do {
            write("order \(try event.decode(Order.self).id)")
        } catch {
            write("an order that can't be read: \(error)")
        }
    }

    /// Writes a line at once, for the journal: standard output is buffered unless it is a terminal. A full disk is no reason to
    /// stop, either.
    private func write(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}
