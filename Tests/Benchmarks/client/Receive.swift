import ArgumentParser
import Dispatch
import Foundation
import PusherChannels

/// Receives the feed's events in one of the ways that an application can, and prints what this process spent on them.
struct Receive: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Receive events, and print what they cost from `begin` to the last one, and what subscribing cost.")

    enum Way: String, ExpressibleByArgument {
        /// A closure that is called at once.
        case closure
        /// A closure that is called on the client's queue.
        case queue
        /// A loop over a stream.
        case stream
        /// The closures for added and removed members.
        case members
    }

    @OptionGroup var feed: FeedOptions

    @Option(help: "How many events to wait for.")
    var events: Int

    @Option(help: "How they are received: closure, queue, stream or members.")
    var by = Way.closure

    @Flag(help: "Decode what they carry.")
    var decode = false

    @Flag(help: "Measure how long each event of a paced feed took.")
    var paced = false

    @Option(help: "The channel, which has bench in its name, as the feed wants it.")
    var channel = "bench"

    @Option(help: "Over how many channels the events are spread, of which each has a closure or a stream.")
    var channels = 1

    @Option(help: "How many other channels there are, with the same each; no event comes on them.")
    var others = 0

    @Option(help: "How many closures each event goes to.")
    var bindings = 1

    @Option(help: "How many more closures wait for events of other names.")
    var otherBindings = 0

    func run() throws {
        let names = channels == 1 ? [channel] : (0..<channels).map { String(format: "%@-%05d", channel, $0) }
        let course = Course(runners: channels)
        let latencies = paced ? Latencies(events) : nil
        let pusher = feed.client(delivery: by == .queue || by == .stream ? nil : .immediate)
        pusher.delegate = course
        for name in names {
            let channel = subscribe(name, on: pusher, course)
            // This closure is gone by the time the events come.
            channel.bind(eventName: "begin") { [weak channel] _ in
                channel?.unbindAll(forEventName: "begin")
                course.begin()
            }
            receive(on: channel, events / channels, course, latencies)
        }
        let idle = Course()
        for number in 0..<others { receive(on: pusher.subscribe("other-\(number)"), 1, idle) }
        pusher.connect()
        let (preparing, running) = try course.end()
        let format = #"{"events":%d,"seconds":%.6f,"cpu_seconds":%.6f,"subscribing_cpu_seconds":%.6f,"peak_rss_kib":%d"#
        let result = String(format: format, events, running.seconds, running.cpuSeconds, preparing.cpuSeconds, Usage.kiB("VmHWM"))
        output(result + (latencies?.members ?? "") + "}")
        pusher.disconnect()
    }

    private func subscribe(_ name: String, on pusher: Pusher, _ course: Course) -> PusherChannel {
        guard by == .members else { return pusher.subscribe(name) }
        let counter = Counter(events, course)
        return pusher.subscribe(name, onMemberAdded: { _ in counter.add() }, onMemberRemoved: { _ in counter.add() })
    }

    private func receive(on channel: PusherChannel, _ wanted: Int, _ course: Course, _ latencies: Latencies? = nil) {
        switch by {
        case .closure, .queue: bind(channel, wanted, course, latencies)
        case .stream: loop(over: channel.events(named: "tick"), wanted, course, latencies)
        case .members: break
        }
    }

    private func bind(_ channel: PusherChannel, _ wanted: Int, _ course: Course, _ latencies: Latencies?) {
        for number in 0..<otherBindings { channel.bind(eventName: "tock-\(number)") { _ in course.fail("a wrong event") } }
        let counter = Counter(wanted * bindings, course)
        for _ in 0..<bindings {
            if decode || paced {
                let decode = decode
                channel.bind(eventName: "tick") { event in
                    if decode { use(event, course) }
                    latencies?.add(event)
                    counter.add()
                }
            } else {
                channel.bind(eventName: "tick") { _ in counter.add() }
            }
        }
    }

    private func loop(over stream: PusherStream<PusherEvent>, _ wanted: Int, _ course: Course, _ latencies: Latencies?) {
        let decode = decode
        Task.detached {
            var count = 0
            for try await event in stream {
                if decode { use(event, course) }
                latencies?.add(event)
                count += 1
                if count == wanted { break }
            }
            if count == wanted { course.arrive() }
        }
    }
}

/// Decodes an event's data, and checks it.
func use(_ event: PusherEvent, _ course: Course) {
    do {
        let tick = try event.decode(Tick.self)
        if tick.price < 100 { course.fail("a wrong price") }
    } catch {
        course.fail("\(error)")
    }
}
