import ArgumentParser
import Foundation
import Logging
import PusherChannels

/// Passes events from a fake socket to a listener, on one thread and with a clock that stands still, which executes the same
/// instructions in every run. `ci/checks/instructions` counts them with valgrind.
struct Instructions: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Pass events from memory to who listens.")

    enum Way: String, ExpressibleByArgument {
        /// A closure that is called at once.
        case closure
        /// A loop over a stream that finds all events of a read.
        case stream
        /// A loop over a stream like that, which also decodes the data of the events.
        case typed
        /// A loop over a stream that is woken for each event.
        case woken
        /// A loop over all updates of the channel.
        case updates
        /// A loop that follows the channel, whose state is up to date.
        case followed
        /// A loop over all updates of a channel of a Sockudo server, whose events have positions.
        case positions
    }

    @Argument(help: "Who listens: closure, stream, typed, woken, updates, followed or positions.")
    var way: Way

    @Option(help: "How many events.")
    var events: Int

    func run() throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else {
            throw Failure("tasks can't be given an executor here")
        }
        let socket = MemorySocket()
        let executor = HandExecutor()
        let environment = PusherEnvironment(
            scheduler: FrozenScheduler(), makeWebSocket: { socket }, wallClock: { Date(timeIntervalSince1970: 0) },
            randomSeed: { 1 }, spawn: { Task(executorPreference: executor, operation: $0) })
        var options = PusherClientOptions(
            authMethod: .noMethod, protocol: way == .positions ? .sockudo : .pusher, useTLS: false, delivery: .immediate)
        options.logger.logLevel = .critical
        let pusher = Pusher(key: "local-key", options: options, environment: environment)
        let channel = pusher.subscribe("bench")
        pusher.connect()
        socket.hasOpened()
        let established = #"{"event":"pusher:connection_established","data":"{\"socket_id\":\"1.1\",\"activity_timeout\":120}"}"#
        socket.deliver(Read([established]))
        let head = way == .positions ? #"{\"attach_serial\":0}",\#(position(0))"# : #"{}""#
        socket.deliver(Read([#"{"event":"pusher_internal:subscription_succeeded","channel":"bench","data":"\#(head)}"#]))
        guard channel.subscribed else { throw Failure("not subscribed") }

        let counted = Locked(0)
        let course = Course()
        listen(to: channel, of: pusher, on: executor, counted, course)
        executor.run()
        // As many events as one read of 64 KiB brings, and at most half of what a stream takes without a pause.
        let size = way == .woken ? 1 : 500
        let reads = (0..<(way == .positions ? Self.mostReads : 1)).map { read in
            Read((1...size).map { message(read * size + $0) })
        }
        for number in 0..<events / size {
            socket.deliver(reads[number % reads.count])
            executor.run()
        }
        let count = counted.withLock { $0 }
        guard count == events / size * size else { throw Failure("\(count) of \(events) events came") }
        output("\(count)")
    }

    /// As each event has a position of its own, all are made beforehand, however few are counted.
    private static let mostReads = 14

    /// An event of 95 bytes, or one with a position.
    private func message(_ number: Int) -> String {
        let row = way == .positions ? 1 : number
        let tick = String(format: #"{\"n\":%03d,\"price\":%.2f,\"s\":\"ACMEINTLXACM\"}"#, 100 + row, 100 + Double(row) / 8)
        return #"{"event":"tick","channel":"bench","data":"\#(tick)"\#(way == .positions ? ",\(position(number))" : "")}"#
    }

    private func position(_ serial: Int) -> String {
        #""stream_id":"9109d635-8661-45e7-ab09-243fed4117fc","serial":\#(serial)"#
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private func listen(
        to channel: PusherChannel, of pusher: Pusher, on executor: HandExecutor, _ counted: Locked<Int>, _ course: Course
    ) {
        switch way {
        case .closure:
            channel.bind(eventName: "tick") { _ in counted.withLock { $0 += 1 } }
            return
        case .updates, .positions:
            let updates = channel.updates
            Task(executorPreference: executor) {
                for try await update in updates { if case .event = update { counted.withLock { $0 += 1 } } }
            }
            return
        case .followed:
            let steps = pusher.follow("bench") { 0 }
            Task(executorPreference: executor) {
                for try await step in steps { if case .event = step { counted.withLock { $0 += 1 } } }
            }
            return
        case .stream, .typed, .woken: break
        }
        let (decodes, stream) = (way == .typed, channel.events(named: "tick"))
        Task(executorPreference: executor) {
            for try await event in stream {
                if decodes { use(event, course) }
                counted.withLock { $0 += 1 }
            }
        }
    }
}
