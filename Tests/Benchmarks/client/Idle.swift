import ArgumentParser
import Dispatch
import Foundation
import PusherChannels

/// Holds many clients with a channel each, on which nothing happens except the pings of silent connections.
struct Idle: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Hold clients for a while, and print what that cost.")

    @OptionGroup var feed: FeedOptions

    @Option(help: "How many clients.")
    var events: Int

    @Option(help: "How many seconds.")
    var seconds = 10

    func run() throws {
        let course = Course()
        let referee = Referee(course)
        let clients = (0..<events).map { _ in
            // As in a program with this many clients: a queue for each client, but not a thread.
            let pusher = feed.client(delivery: .queue(DispatchQueue(label: "client", target: .global())))
            pusher.delegate = referee
            pusher.subscribe("bench").bind(eventName: "pusher:subscription_succeeded") { _ in course.getReady() }
            pusher.connect()
            return pusher
        }
        try course.waitUntilReady(clients.count)
        course.begin()
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) { course.arrive() }
        let (_, running) = try course.end()
        report(events, running)
        withExtendedLifetime((referee, clients)) {}
    }
}
