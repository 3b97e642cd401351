import ArgumentParser
import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The client under test: it subscribes to channels and prints every notification until it is terminated.
struct Client: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Subscribe to channels and print what is heard, a line of JSON each.", shouldDisplay: false)

    @Option var host: String
    @Option var port: Int
    @Option(help: "A PEM file of the authorities to trust; without it there is no TLS.") var caFile: String?
    @Option var authEndpoint: String
    @Option(help: "The address of a backend whose number is copied, by following a channel.") var backend: String?
    @Flag(help: "Run as nobody, whose threads can be limited.") var asOtherUser = false
    @Argument var channels: [String]

    func run() async throws {
        let authorities = try authorities
        if asOtherUser { _ = OtherUser.become() }
        LoopEnd.awaitIt()
        let pusher = Pusher(key: "local-key", options: options(trusting: authorities))
        let reporter = Reporter()
        pusher.delegate = reporter
        pusher.bind { event in
            guard let channel = event.channelName, event.eventName == FeedEvent.name else { return }
            reporter.report(.event(channel: channel, number: event.data.flatMap(Int.init) ?? -1))
        }
        pusher.connection.userDataFetcher = { PusherPresenceChannelMember(userID: "ann") }
        for channel in channels { pusher.subscribe(channel) }
        if let backend { Task { try await copy(backend, pusher, reporter) } }
        try await pusher.run()
        withExtendedLifetime(reporter) {}
    }

    /// Keeps a copy of the backend's number.
    private func copy(_ backend: String, _ pusher: Pusher, _ reporter: Reporter) async throws {
        var copy = 0
        for try await step in pusher.follow(FeedEvent.followed, loading: { try await Self.number(at: backend) }) {
            switch step {
            case .state(let number, let reason):
                copy = number
                reporter.report(.copied(number, reason: "\(reason)"))
            case .event(let event):
                guard let number = event.data.flatMap({ Int($0) }), number > copy else { break }
                if number > copy + 1 { reporter.report(.copyLacks(from: copy + 1, to: number - 1)) }
                copy = number
            case .failed: break
            }
        }
    }

    private static func number(at backend: String) async throws -> Int {
        guard let url = URL(string: backend) else { throw Trouble("\(backend) is no address") }
        let body: Data = try await withCheckedThrowingContinuation { continuation in
            let task = PusherEnvironment.live.httpSession.dataTask(with: URLRequest(url: url)) { data, _, error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(data ?? Data()))
            }
            task.resume()
        }
        return try JSONDecoder().decode(Int.self, from: body)
    }

    /// The authorities' file, or its contents if the client runs as `nobody`, who has no access to the file's folder.
    private var authorities: PEMSource? {
        get throws {
            try caFile.map { asOtherUser ? .text(try String(contentsOfFile: $0, encoding: .utf8)) : .file($0) }
        }
    }

    private func options(trusting authorities: PEMSource?) -> PusherClientOptions {
        PusherClientOptions(
            authMethod: .endpoint(authEndpoint: authEndpoint), host: .host(host), port: port, useTLS: authorities != nil,
            tls: TLSConfiguration(roots: authorities.map { .only($0) } ?? .system), proxy: .none,
            // Small enough that an endless message is refused before the reply times out, even on a busy machine.
            maximumMessageSize: 4 << 20,
            activityTimeout: 1, timeouts: Patience.timeouts, reconnectPolicy: Patience.reconnects)
    }
}

/// The client's time-outs and retry delays, so short that what takes minutes in a service takes seconds here. The page's times
/// are measured with these.
enum Patience {
    static let timeouts = ConnectionTimeouts(
        open: .seconds(2), establish: .seconds(1), pong: .seconds(1), close: .seconds(1), authorization: .seconds(1),
        subscription: .seconds(1))
    static let reconnects = ReconnectPolicy(
        initialDelay: .milliseconds(100), maximumDelay: .milliseconds(500), stableAfter: .seconds(1))
}

/// Prints the delegate's notifications.
private final class Reporter: PusherDelegate, Sendable {
    func report(_ heard: Heard) {
        guard let line = try? heard.line() else { return }
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {
        report(.state("\(new)"))
    }

    func subscribedToChannel(name: String) {
        report(.subscribed(channel: name))
    }

    func eventsMayBeMissing(channelName: String, since: Date) {
        report(.mayHaveMissed(channel: channelName, since: since))
    }

    func failedToSubscribeToChannel(name: String, response: URLResponse?, data: String?, error: NSError?) {
        // The port differs each time.
        let message = error?.localizedDescription.replacing(#/127.0.0.1:\d+/#, with: "127.0.0.1:443")
        report(.subscriptionFailed(channel: name, message: message ?? ""))
    }

    func receivedError(error: PusherError) {
        clientReported(error: error)
    }

    func clientReported(error: PusherError) {
        let kind = "\(error.kind)".replacing(#/PusherChannels\.\w+\.(Kind)?\.?/#, with: ".")
        report(.error(kind: kind, message: error.message))
    }
}
