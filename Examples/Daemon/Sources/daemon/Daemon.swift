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
        guard let error = error as? PusherError else { return error is Missing || error is Unusable }
        // These may resolve by themselves: the app may fall below its connection quota (4004), and a refused channel may be
        // allowed later.
        return !error.isRetryable && error.code != 4004 && ![.authorization, .subscriptionRefused].contains(error.kind)
    }

    private static func run() async throws {
        let pusher = Pusher(key: try setting("PUSHER_KEY"), options: try options())
        let api = try OrdersAPI()
        let orders = Orders(steps: pusher.follow("orders") { try await api.orders() })
        // Services are asked to end from the last to the first: the reader before the client.
        let group = ServiceGroup(
            services: [pusher, orders], gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "daemon"))
        try await group.run()
    }

    /// The server to connect to: the hosted service's cluster (`PUSHER_CLUSTER`), or a server of your own (`PUSHER_HOST` and
    /// `PUSHER_PORT`, with TLS if `PUSHER_TLS` is 1).
    private static func options() throws -> PusherClientOptions {
        if let cluster = ProcessInfo.processInfo.environment["PUSHER_CLUSTER"], !cluster.isEmpty {
            return PusherClientOptions(host: .cluster(cluster))
        }
        return PusherClientOptions(host: .host(try setting("PUSHER_HOST")), port: try port(), useTLS: try usesTLS())
    }

    private static func port() throws -> Int {
        let value = try setting("PUSHER_PORT")
        guard let port = Int(value), (1...65_535).contains(port) else {
            throw Unusable(name: "PUSHER_PORT", value: value, need: "a number from 1 to 65535")
        }
        return port
    }

    private static func usesTLS() throws -> Bool {
        switch ProcessInfo.processInfo.environment["PUSHER_TLS"] {
        case nil, "", "0": false
        case "1": true
        case let value?: throw Unusable(name: "PUSHER_TLS", value: value, need: "1 or 0")
        }
    }

    static func setting(_ name: String) throws -> String {
        guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else { throw Missing(name: name) }
        return value
    }

    struct Missing: Error, CustomStringConvertible {
        let name: String

        var description: String { "\(name) is not set" }
    }

    struct Unusable: Error, CustomStringConvertible {
        let name: String
        let value: String
        let need: String

        var description: String { "\(name) is \"\(value)\", not \(need)" }
    }
}

struct Order: Decodable {
    let id: Int
}

/// The application's own API, which has all orders at the address `ORDERS_URL`.
struct OrdersAPI {
    struct Refused: Error {
        let status: Int
    }

    private let url: URL

    init() throws {
        let address = try Daemon.setting("ORDERS_URL")
        guard let url = URL(string: address), url.host != nil else {
            throw Daemon.Unusable(name: "ORDERS_URL", value: address, need: "an address such as http://127.0.0.1:8000/orders")
        }
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
