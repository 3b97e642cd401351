import ArgumentParser
import Dispatch
import Foundation
import PusherChannels

/// Holds many clients with a channel each, on which nothing happens except the pings of silent connections. Prints what that
/// cost, and the memory that each client takes beside the first.
struct Idle: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Hold clients for a while, and print what that cost.")

    @OptionGroup var feed: FeedOptions

    @Option(help: "How many clients.")
    var events: Int

    @Option(help: "How many seconds.")
    var seconds = 10

    func run() throws {
        let course = Course()
        var clients: [Pusher] = []
        func connect(_ count: Int) throws {
            for _ in 0..<count {
                // As in a program with this many clients: a queue for each client, but not a thread.
                let pusher = feed.client(delivery: .queue(DispatchQueue(label: "client", target: .global())))
                pusher.delegate = course
                pusher.subscribe("bench").bind(eventName: "pusher:subscription_succeeded") { _ in course.getReady() }
                pusher.connect()
                clients.append(pusher)
            }
            try course.waitUntilReady(count)
        }
        try connect(1)
        let before = Usage.kiB("VmRSS")
        try connect(events - 1)
        let each = Double(Usage.kiB("VmRSS") - before) / Double(events - 1)
        course.begin()
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) { course.arrive() }
        let (_, running) = try course.end()
        let format = #"{"events":%d,"seconds":%.6f,"cpu_seconds":%.6f,"kib_each":%.2f}"#
        output(String(format: format, events, running.seconds, running.cpuSeconds, each))
        withExtendedLifetime(clients) {}
    }
}
