import ArgumentParser
import Foundation
import PusherChannels

struct Listen: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the events of channels.",
        discussion: "Reconnects by itself. Ends with a message and status 1 where it can't go on: a refused key or channel.")

    @Argument(help: "The channels to subscribe to.")
    var channels: [String]

    @OptionGroup var server: ServerOptions

    @OptionGroup var route: RouteOptions

    @Option(help: "A path in front of the protocol's own.")
    var path: String?

    @Option(help: "The app's secret, to sign subscriptions with.")
    var secret: String?

    @Option(help: "The address of an authorisation endpoint.")
    var authEndpoint: String?

    @Option(help: "The user id on presence channels; takes --secret.")
    var userID: String?

    @Option(help: "Print only events of this name.")
    var event: String?

    @Option(help: "End after so many events.")
    var count: Int?

    @Option(help: "The longest pause before a lost server is tried again, in seconds.")
    var maxDelay = 120.0

    @Flag(help: "Print one JSON object a line: channel, event, data, user_id.")
    var json = false

    func validate() throws {
        if channels.isEmpty { throw ValidationError("name at least one channel") }
        if secret != nil, authEndpoint != nil { throw ValidationError("give --secret or --auth-endpoint, not both") }
        if userID != nil, secret == nil { throw ValidationError("--user-id takes --secret") }
        if !(maxDelay > 0) || maxDelay > 86_400 { throw ValidationError("--max-delay must be more than 0, and a day at most") }
        if let count, count < 1 { throw ValidationError("--count must be 1 or more") }
    }

    private var authMethod: AuthMethod {
        if let secret { return .inline(secret: secret) }
        if let authEndpoint { return .endpoint(authEndpoint: authEndpoint) }
        return .noMethod
    }

    func run() async throws {
        let pusher = Pusher(
            key: server.key,
            options: PusherClientOptions(
                authMethod: authMethod, host: .host(server.host), port: server.port, path: path, useTLS: server.tls,
                tls: route.tls, proxy: route.proxyConfiguration,
                reconnectPolicy: ReconnectPolicy(maximumDelay: .seconds(maxDelay))))
        let happenings = Happenings()
        pusher.delegate = happenings
        // Whoever reads our output slowly makes the server wait, not our memory grow.
        let events = pusher.events(buffering: StreamBuffering(overflow: .pauseThenDrop))
        if let userID { pusher.connection.userDataFetcher = { PusherPresenceChannelMember(userId: userID) } }
        for channel in channels { pusher.subscribe(channel) }
        pusher.connect()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await printAll(events) }
            group.addTask { try await follow(happenings.stream) }
            defer { group.cancelAll() }
            try await group.next()
        }
        await pusher.shutdown()
    }

    /// Returns when as many were printed as were asked for.
    private func printAll(_ events: PusherStream<PusherEvent>) async throws {
        var printed = 0
        var dropped = 0
        for await event in events where isWanted(event) {
            if events.dropped > dropped {
                note("\(events.dropped - dropped) events were dropped, as the output was not read")
                dropped = events.dropped
            }
            output(try line(event))
            printed += 1
            if printed == count { return }
        }
    }

    private func follow(_ happenings: AsyncStream<Happening>) async throws {
        var lastError: PusherError?
        for await happening in happenings {
            switch happening {
            case .state(.disconnected):
                throw Failure("can't go on: \(lastError.map { "\($0)" } ?? "disconnected")")
            case .state(let state):
                note("\(state)")
            case .subscribed(let channel):
                note("subscribed to \(channel)")
            case .gap(let channel, let date):
                note("events of \(channel) may be missing since \(date.formatted(.iso8601))")
            case .subscriptionFailed(let channel, let problem):
                throw Failure("can't subscribe to \(channel): \(problem)")
            case .error(let error):
                lastError = error
                note("\(error)")
            case .event, .memberAdded, .memberRemoved:
                break
            }
        }
    }

    private func isWanted(_ event: PusherEvent) -> Bool {
        guard event.channelName != nil, !event.eventName.hasPrefix("pusher:") else { return false }
        return self.event.map { $0 == event.eventName } ?? true
    }

    private struct Line: Encodable {
        let channel: String?
        let event: String
        let data: String?
        let user_id: String?
    }

    private func line(_ event: PusherEvent) throws -> String {
        guard json else {
            return [event.channelName ?? "-", event.eventName, event.data ?? ""].joined(separator: " ")
        }
        let line = Line(channel: event.channelName, event: event.eventName, data: event.data, user_id: event.userId)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(line), as: UTF8.self)
    }
}
