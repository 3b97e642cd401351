import ArgumentParser
import Foundation
import PusherChannels

/// Receives events of many channels, over several connections, in one loop.
struct Pool: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Receive events of many channels by a pool, and print what subscribing and they cost together.")

    @OptionGroup var feed: FeedOptions

    @Option(help: "How many events to wait for on each connection.")
    var events: Int

    @Option(help: "How many connections there are.")
    var connections: Int

    @Option(help: "How many channels there are on all of them.")
    var channels = 10_000

    func run() throws {
        let course = Course()
        let pool = PusherPool(
            key: "local-key", channelsPerConnection: channels / connections, attemptsPerSecond: 1_000_000, options: feed.options()
        )
        pool.delegate = course
        let (updates, wanted) = (pool.updates, events * connections)
        pool.subscribe((0..<channels).map { String(format: "bench-%05d", $0) })
        Task.detached {
            var count = 0
            do {
                for try await change in updates {
                    guard case .event(let event) = change.update, event.eventName == "tick" else { continue }
                    count += 1
                    if count == wanted { return course.arrive() }
                }
                course.fail("the pool ended after \(count) of \(wanted) events")
            } catch {
                course.fail("after \(count) of \(wanted) events: \(error)")
            }
        }
        course.begin()
        pool.connect()
        let (_, running) = try course.end()
        let format = #"{"events":%d,"on_all":%d,"seconds":%.6f,"cpu_seconds":%.6f,"peak_rss_kib":%d}"#
        output(String(format: format, events, wanted, running.seconds, running.cpuSeconds, Usage.kiB("VmHWM")))
        pool.disconnect()
    }
}
