import ArgumentParser
import Foundation
import PusherChannels

struct Trigger: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Publish an event, or many, through the HTTP API.",
        discussion: """
            With --batch, standard input has an event a line, as listen --json prints them: {"channel":"news","event":"headline",\
            "data":"text"}, and if wanted "socket_id" and "info". The lines that are there are published with one request, ten at \
            most. SIGINT and SIGTERM end it, with status 130 and 143, once what it has read is published; a second one at once.

            Where --info is given, it prints a JSON object for each channel.

            \(Status.text) A publish is never made twice: where its answer was lost, it ends with 1 and says so.
            """)

    @Argument(help: "The channel.")
    var channel: String?

    @Argument(help: "The event's name.")
    var event: String?

    @Argument(help: "The event's data, passed on as it is; after -- where it begins with a hyphen.")
    var data: String?

    @Option(name: .customLong("channel"), help: "Another channel of the same event; may be given up to 99 times.")
    var others: [String] = []

    @Option(help: "The socket id of the connection that doesn't get the event.")
    var socketID: String?

    @Option(help: "What to tell of each channel: user_count, subscription_count, cache, with commas between them.")
    var info: InfoOption?

    @Flag(help: "Publish the events of standard input, a JSON object a line.")
    var batch = false

    @OptionGroup var backend: BackendOptions

    func validate() throws {
        if batch {
            guard channel == nil, others.isEmpty, socketID == nil, info == nil else {
                throw ValidationError("--batch takes everything from standard input")
            }
        } else if data == nil {
            throw ValidationError("give a channel, an event and its data, or --batch")
        } else if let channel = ([channel].compactMap(\.self) + others).first(where: { ChannelName($0).kind == .encrypted }),
            try backend.app.masterKeys(backend.server.settings).isEmpty
        {
            throw ValidationError("\(channel) requires --encryption-master-key")
        }
    }

    func run() async throws {
        try await Status.of {
            if batch { try await publishLines() } else { try await publish() }
        }
    }

    private func publish() async throws {
        guard let channel, let event, let data else { return }
        let told = try await backend.makeAPI().trigger(
            channels: [channel] + others, eventName: event, data: data, excluding: socketID, info: info?.attributes ?? [])
        if info != nil { for channel in told { output(channel.line) } }
    }

    private func publishLines() async throws {
        let input = InputLines()
        let signal = Locked<Int32?>(nil)
        onInterruption { [end = input.end] number in
            signal.withLock { $0 = number }
            end()
        }
        let api = try backend.makeAPI()
        var lines = EventLines(input)
        var published = 0
        do {
            while case let events = try lines.next(10), !events.isEmpty {
                try await publish(events, by: api)
                published += events.count
            }
        } catch  where published > 0 {
            // Publishing all of it again would publish these twice.
            throw Failure("\(error); the first \(published) events were published before")
        }
        if let signal = signal.withLock({ $0 }) { throw ExitCode(128 + signal) }
    }

    private func publish(_ events: [PusherBatchEvent], by api: PusherHTTPAPI) async throws {
        let told = try await api.triggerBatch(events)
        for (event, channel) in zip(events, told) where !event.info.isEmpty { output(channel.line) }
    }
}
