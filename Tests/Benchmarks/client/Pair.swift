import ArgumentParser
import Foundation
import PusherChannels

/// Sends an event between two clients in one process, there and back, again and again.
struct Pair: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Send an event to another client and back, again and again.")

    @OptionGroup var feed: FeedOptions

    @Option(help: "How often it goes there and back.")
    var events: Int

    @Flag(help: "Read streams; without, closures are called at once.")
    var stream = false

    func run() throws {
        let course = Course()
        let players = (0..<2).map { _ in
            let pusher = feed.client(delivery: .immediate)
            pusher.delegate = course
            return (pusher: pusher, channel: pusher.subscribe("private-bench"))
        }
        for (pusher, channel) in players {
            channel.bind(eventName: "pusher:subscription_succeeded") { _ in course.getReady() }
            pusher.connect()
            try course.waitUntilReady()
        }
        let (here, there) = (players[0].channel, players[1].channel)
        let stopwatch = Stopwatch(events, course)
        on(there) { throwBall(on: there) }
        on(here) { if stopwatch.lap() { throwBall(on: here) } }
        course.begin()
        stopwatch.start()
        throwBall(on: here)
        let (_, running) = try course.end()
        withExtendedLifetime(players) {}
        let cost = String(format: #""events":%d,"seconds":%.6f,"cpu_seconds":%.6f"#, events, running.seconds, running.cpuSeconds)
        output("{\(cost)\(stopwatch.times.members)}")
        for (pusher, _) in players { pusher.disconnect() }
    }

    private func on(_ channel: PusherChannel, _ body: @escaping @Sendable () -> Void) {
        guard stream else {
            channel.bind(eventName: "client-ball") { _ in body() }
            return
        }
        let balls = channel.events(named: "client-ball")
        Task.detached { for try await _ in balls { body() } }
    }
}

private func throwBall(on channel: PusherChannel) {
    channel.trigger(eventName: "client-ball", data: ["n": 1])
}

/// A stopwatch for many laps, one after another.
///
/// `@unchecked` because accesses can't overlap: each lap ends before the next begins.
private final class Stopwatch: @unchecked Sendable {
    let times: Latencies
    private var count = 0
    private var began = 0.0
    private let wanted: Int
    private let course: Course

    init(_ wanted: Int, _ course: Course) {
        self.wanted = wanted
        self.course = course
        times = Latencies(wanted)
    }

    func start() {
        began = Usage.clock
    }

    /// Ends a lap and begins the next, unless it was the last.
    func lap() -> Bool {
        let now = Usage.clock
        times.add((now - began) * 1e6)
        count += 1
        began = now
        if count == wanted { course.arrive() }
        return count < wanted
    }
}
