import Foundation
import Logging
import PusherChannels
import ServiceLifecycle

/// Follows the prices of a thousand markets, or its share of them as one worker of a fleet. On SIGTERM it handles what it has
/// already read, then ends.
@main
enum Worker {
    static func main() async {
        do {
            try await run()
        } catch {
            // An error thrown out of `main` would end the process like a crash.
            Logger(label: "worker").critical("\(error)")
            exit(EXIT_FAILURE)
        }
    }

    private static func run() async throws {
        let variables = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
        guard let key = variables["PUSHER_KEY"] else { throw Missing(name: "PUSHER_KEY") }
        let pool = PusherPool(
            key: key, channelsPerConnection: 100, shard: try Shard(environment: variables), options: try options(variables))
        let prices = Prices(updates: pool.updates)
        pool.subscribe((0..<1000).map { "prices-\($0)" })
        let (channels, connections) = (pool.channels.count, pool.connections.count)
        write("following \(channels) channels over \(connections) connections, as shard \(pool.shard)")
        // Services are asked to end from the last to the first: the reader before the pool.
        let group = ServiceGroup(
            services: [pool, prices], gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "worker"))
        try await group.run()
    }

    /// The server to connect to: the hosted service's cluster (`PUSHER_CLUSTER`), or a server of your own (`PUSHER_HOST` and
    /// `PUSHER_PORT`, with TLS if `PUSHER_TLS` is 1).
    private static func options(_ variables: [String: String]) throws -> PusherClientOptions {
        if let cluster = variables["PUSHER_CLUSTER"] { return PusherClientOptions(host: .cluster(cluster)) }
        guard let host = variables["PUSHER_HOST"] else { throw Missing(name: "PUSHER_HOST") }
        guard let port = variables["PUSHER_PORT"] else { throw Missing(name: "PUSHER_PORT") }
        guard let number = Int(port), (1...65_535).contains(number) else {
            throw Unusable(name: "PUSHER_PORT", value: port, need: "a number from 1 to 65535")
        }
        let tls = variables["PUSHER_TLS"] ?? ""
        guard ["", "0", "1"].contains(tls) else { throw Unusable(name: "PUSHER_TLS", value: tls, need: "1 or 0") }
        return PusherClientOptions(host: .host(host), port: number, useTLS: tls == "1")
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

/// Handles the updates of all channels.
struct Prices: Service {
    let updates: PusherStream<PoolUpdate>

    func run() async throws {
        var (subscribed, prices) = (Set<String>(), 0)
        for try await change in updates {
            switch change.update {
            case .subscribed:
                // Also comes after every reconnection.
                let isNew = subscribed.insert(change.channelName).inserted
                if isNew, subscribed.count.isMultiple(of: 100) { write("\(subscribed.count) channels are subscribed") }
            case .event(let event):
                prices += 1
                write("\(change.channelName): \(event.data ?? "")")
            case .eventsMayBeMissing(let gap):
                write("prices of \(change.channelName) since \(gap.since) may be missing: fetch them")
            case .subscriptionFailed(let error):
                write("\(change.channelName) is not subscribed, \(error.isRetryable ? "and tried again" : "for good"): \(error)")
            default: break
            }
        }
        write("done, after \(prices) prices")
    }
}

/// Writes a line at once, for the journal: standard output is buffered unless it is a terminal. A full disk is no reason to stop.
func write(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
}
