import Foundation
import Logging
import PusherChannels
import ServiceLifecycle

/// Follows the channel `orders` and writes a line for each order, until it gets SIGTERM: then it handles what it has read, and ends.
@main
enum Daemon {
    static func main() async {
        do {
            try await run()
        } catch {
            // Thrown out of `main`, it would end the process as a crash does.
            Logger(label: "daemon").critical("\(error)")
            exit(isOfSettings(error) ? EX_CONFIG : EXIT_FAILURE)
        }
    }

    /// Whether somebody has to change something first, such as a wrong key: systemd isn't to start it again for that.
    private static func isOfSettings(_ error: any Error) -> Bool {
        error is Missing || error is NoNumber || (error as? PusherError)?.isRetryable == false
    }

    private static func run() async throws {
        let pusher = Pusher(key: try setting("PUSHER_KEY"), options: try options())
        let orders = Orders(updates: pusher.subscribe("orders").updates)
        // Asked to end from the last to the first: the reader before the client.
        let group = ServiceGroup(
            services: [pusher, orders], gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "daemon"))
        try await group.run()
    }

    /// The hosted service's cluster, or a server of one's own: `PUSHER_CLUSTER`, or `PUSHER_HOST` and `PUSHER_PORT`, with TLS where
    /// `PUSHER_TLS` is 1.
    private static func options() throws -> PusherClientOptions {
        if let cluster = ProcessInfo.processInfo.environment["PUSHER_CLUSTER"] {
            return PusherClientOptions(host: .cluster(cluster))
        }
        let usesTLS = ProcessInfo.processInfo.environment["PUSHER_TLS"] == "1"
        return PusherClientOptions(host: .host(try setting("PUSHER_HOST")), port: try number("PUSHER_PORT"), useTLS: usesTLS)
    }

    private static func number(_ name: String) throws -> Int {
        let value = try setting(name)
        guard let number = Int(value) else { throw NoNumber(name: name, value: value) }
        return number
    }

    private static func setting(_ name: String) throws -> String {
        guard let value = ProcessInfo.processInfo.environment[name] else { throw Missing(name: name) }
        return value
    }

    struct Missing: Error, CustomStringConvertible {
        let name: String

        var description: String { "\(name) is not set" }
    }

    struct NoNumber: Error, CustomStringConvertible {
        let name: String
        let value: String

        var description: String { "\(name) is \"\(value)\", which is no number" }
    }
}

/// Handles what happens to the channel of orders.
struct Orders: Service {
    struct Order: Decodable {
        let id: Int
    }

    let updates: PusherStream<ChannelUpdate>

    func run() async throws {
        for try await update in updates {
            switch update {
            case .subscribed: write("following orders")
            case .event(let event) where event.eventName == "placed": handle(event)
            case .eventsMayBeMissing(let gap): write("orders since \(gap.since) may be missing: fetch them")
            case .subscriptionFailed(let error): write("not subscribed, and tried again: \(error)")
            default: break
            }
        }
        write("done")
    }

    /// An order that can't be read is no reason to stop.
    private func handle(_ event: PusherEvent) {
        do {
            write("order \(try event.decode(Order.self).id)")
        } catch {
            write("an order that can't be read: \(error)")
        }
    }

    /// At once, for the journal: standard output is buffered where it is no terminal. That a disk is full is no reason to stop, either.
    private func write(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}
