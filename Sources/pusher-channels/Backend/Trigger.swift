import ArgumentParser
import Foundation
import PusherChannels

struct Trigger: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Publish an event, or many, through the HTTP API.",
        discussion: """
            With --batch, standard input has one event per line, as listen --json prints them: {"channel":"news","event":"headline",\
            "data":"text"}, optionally with "socket_id" and "info". One request publishes the lines that have arrived, at most ten. \
            SIGINT, SIGTERM and SIGHUP end it, with status 130, 143 and 129, once the lines that it has read are published; a second \
            signal ends it at once.

            If a request fails, the message says what was published: of that request all events or none, except that Sockudo publishes \
            those before the one that it refuses.

            With --info, it prints one JSON object for each channel, and says on standard error what the server didn't report.

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
        if batch { try await publishLines() } else { try await publish() }
    }

    private func publish() async throws {
        guard let channel, let event, let data else { return }
        let told: [PusherChannelInfo]
        do {
            told = try await backend.makeAPI().trigger(
                channels: [channel] + others, eventName: event, data: data, excluding: socketID, info: info?.attributes ?? [])
        } catch let error as PusherError where error.mayHaveBeenCarriedOut {
            // Another attempt, to which the status for those would invite, might publish it twice.
            throw Failure("\(error)")
        }
        if let info { told.print(asked: info.attributes) }
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
        var (published, sent) = (0, 0)
        do {
            while case let events = try lines.next(10), !events.isEmpty {
                sent = events.count
                try await publish(events, by: api)
                published += sent
            }
        } catch {
            throw Self.failure(error, after: published, sending: sent)
        }
        if let signal = signal.withLock({ $0 }) { throw ExitCode(128 + signal) }
    }

    /// Returns an error with what was published. Only if nothing was, another attempt may have the status for those: it would
    /// publish some events twice.
    private static func failure(_ error: any Error, after published: Int, sending count: Int) -> Failure {
        let reason = error as? PusherError
        let before = published > 0 ? "; the first \(published) events were published before" : ""
        if reason?.mayHaveBeenCarriedOut == true {
            return Failure("\(error)\(before); the next \(count == 1 ? "one" : "\(count)") may have been published")
        }
        if let kind = reason?.kind, [.httpAPI(.badRequest), .httpAPI(.payloadTooLarge)].contains(kind), count > 1 {
            return Failure("\(error)\(before); of the next \(count), only Sockudo publishes those before the one that it refuses")
        }
        if published > 0 { return Failure("\(error)\(before), and none after them") }
        return Failure("\(error); nothing was published", because: reason.flatMap { $0.isRetryable ? $0 : nil })
    }

    private func publish(_ events: [PusherBatchEvent], by api: PusherHTTPAPI) async throws {
        let told = try await api.triggerBatch(events)
        for (event, channel) in zip(events, told) where !event.info.isEmpty { output(channel.line) }
    }
}
