import ArgumentParser
import Foundation
import PusherChannels

/// Subscribes to many channels, loses the connection, and measures until all are subscribed to again.
struct Again: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Subscribe to channels again after the feed has hung up.")

    @OptionGroup var feed: FeedOptions

    @Option(help: "How many channels.")
    var events: Int

    func run() throws {
        let course = Course()
        let pusher = feed.client(delivery: .immediate, autoReconnect: true)
        let watch = Watch(events, course)
        pusher.delegate = watch
        for number in 0..<events { pusher.subscribe("bench-\(number)") }
        pusher.connect()
        let (_, running) = try course.end()
        withExtendedLifetime(watch) {}
        report(events, running)
        pusher.disconnect()
    }
}

/// A delegate that begins the measurement with the second connection, and ends it once all channels are subscribed to.
private final class Watch: PusherDelegate, Sendable {
    private let counts = Locked((connections: 0, missing: 0))
    private let wanted: Int
    private let course: Course

    init(_ wanted: Int, _ course: Course) {
        self.wanted = wanted
        self.course = course
    }

    func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {
        guard new == .connected else { return }
        let number = counts.withLock { counts in
            counts.connections += 1
            counts.missing = wanted
            return counts.connections
        }
        if number == 2 { course.begin() }
    }

    func subscribedToChannel(name: String) {
        let (number, missing) = counts.withLock { counts in
            counts.missing -= 1
            return counts
        }
        if number == 2, missing == 0 { course.arrive() }
    }
}
