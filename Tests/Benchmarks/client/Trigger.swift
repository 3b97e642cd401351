import ArgumentParser
import Foundation
import PusherChannels

/// Sends client events as fast as the client takes them.
struct Trigger: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send client events until the feed has them all, and print what they cost.")

    @OptionGroup var feed: FeedOptions

    @Option(help: "How many events to send; the feed answers the last.")
    var events: Int

    func run() throws {
        let course = Course()
        let pusher = feed.client(delivery: .immediate)
        pusher.delegate = course
        let channel = pusher.subscribe("private-bench")
        channel.bind(eventName: "pusher:subscription_succeeded") { _ in course.getReady() }
        channel.bind(eventName: "done") { _ in course.arrive() }
        pusher.connect()
        try course.waitUntilReady()
        // Makes messages of 95 bytes.
        let tick = Tick(n: 1, price: 100.5, s: "ACMEINTLXAC")
        course.begin()
        for _ in 0..<events {
            let result = channel.trigger(eventName: "client-tick", data: tick)
            if case .refused(let error) = result { throw error }
        }
        let (_, running) = try course.end()
        report(events, running)
        pusher.disconnect()
    }
}

/// Prints the cost of the events.
func report(_ events: Int, _ usage: Usage) {
    let format = #"{"events":%d,"seconds":%.6f,"cpu_seconds":%.6f,"peak_rss_kib":%d}"#
    output(String(format: format, events, usage.seconds, usage.cpuSeconds, Usage.kiB("VmHWM")))
}
