import ArgumentParser
import Foundation
import PusherChannels

struct Trigger: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Publish an event, or many, through the HTTP API.",
        discussion: """
            With --batch, standard input has one event per line, as listen --json prints them: {"channel":"news","event":"headline",\
            "data":"text"}, optionally with "socket_id" and "info". One request publishes the lines that have arrived, at most ten. \
            SIGINT and SIGTERM end it, with status 130 and 143, once the lines that it has read are published; a second signal ends it at \
            once.

            With --info, it prints one JSON object for each channel.

            \(Status.text) It never publishes an event twice: if the response is lost, it ends with 1 and says so.
            """)

    @Argument(help: "The channel.")
    var channel: String?

    @Argument(help: "The event's name.")
    var event: String?

    @Argument(help: "The event's data, sent as it is; put -- before it if it begins with a hyphen.")
    var data: String?

    @Option(name: .customLong("channel"), help: "Another channel of the same event; may be given up to 99 times.")
    var others: [String] = []

    @Option(help: "The socket id of a connection that must not get the event.")
    var socketID: String?

    @Option(help: "The information to print for each channel: user_count, subscription_count, cache, separated by commas.")
    var info: InfoOption?

    @Flag(help: "Publish events from standard input, one JSON object per line.")
    var batch = false

    @OptionGroup var backend: BackendOptions

    func validate() throws {
        if batch {
            guard channel == nil, others.isEmpty, socketID == nil, info == nil else {
                throw ValidationError("--batch takes everything from standard input")
            }
        } else if data == nil {
            throw ValidationError("give a channel, an event and its data (after -- if it begins with a hyphen), or --batch")
        } else if let channel = ([channel].compactMap(\.self) + others).first(where: { ChannelName($0).kind == .encrypted }),
            try backend.app.masterKeys(backend.server.configuration).isEmpty
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
