import Configuration
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
        let settings = try PusherSettings(config: ConfigReader(provider: EnvironmentVariablesProvider()))
        let shard = try Shard(environment: ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty })
        let pool = PusherPool(
            key: settings.key, channelsPerConnection: 100, shard: shard, options: settings.options())
        let prices = Prices(updates: pool.updates)
        pool.subscribe((0..<1000).map { "prices-\($0)" })
        let (channels, connections) = (pool.channels.count, pool.connections.count)
        write("following \(channels) channels over \(connections) connections, as shard \(pool.shard)")
        // Services are asked to end from the last to the first: the reader before the pool.
        let group = ServiceGroup(
            services: [pool, prices], gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "worker"))
        try await group.run()
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
