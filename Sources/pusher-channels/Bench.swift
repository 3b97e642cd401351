import ArgumentParser
import Foundation
import PusherChannels

struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Count the events of a feed and what they cost.",
        discussion: """
            Subscribes to a channel, counts its events through one bound closure until the last one arrives, and prints what this \
            process used from the subscription to that event.

            \(Status.text)
            """)

    @OptionGroup var server: ServerOptions

    @OptionGroup var route: RouteOptions

    @Option(help: "The channel of the feed.")
    var channel = "bench"

    @Option(help: "The name of the events to count.")
    var event = "tick"

    @Option(help: "The name of the event that ends the feed.")
    var until = "done"

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        try server.validateVariables(in: server.settings)
    }

    func run() async throws {
        let pusher = Pusher(
            key: server.key,
            options: PusherClientOptions(
                autoReconnect: false, host: server.location, port: server.portToUse, useTLS: server.usesTLS, tls: route.tls,
                proxy: route.proxyConfiguration, delivery: .immediate))
        let notifications = ClientNotifications()
        pusher.delegate = notifications
        let events = Locked(0)
        let began = Locked<Usage?>(nil)
        let channel = pusher.subscribe(channel)
        channel.bind(eventName: "pusher:subscription_succeeded") { _ in began.withLock { $0 = Usage() } }
        channel.bind(eventName: event) { _ in events.withLock { $0 += 1 } }
        channel.bind(eventName: until) { notifications.add(.event($0)) }
        pusher.connect()
        let name = event.onOneLine
        let line: @Sendable () -> String = {
            began.withLock { $0 != nil } ? "\(events.withLock { $0 }) events \(name)" : "connecting"
        }
        try await showingProgress(line) { try await end(notifications.stream) }
        let ended = Usage()
        report(events.withLock { $0 }, ended.since(began.withLock { $0 } ?? ended))
        await notifications.end(pusher)
    }

    private func end(_ notifications: AsyncStream<ClientNotification>) async throws {
        var lastError: PusherError?
        for await notification in notifications {
            switch notification {
            case .event: return
            case .error(let error): lastError = error
            case .state(.disconnected):
                throw Failure("the connection ended: \(lastError.map { "\($0)" } ?? "no error")", because: lastError)
            case .subscriptionFailed(let channel, let problem):
                throw Failure("can't subscribe to \(channel): \(problem)", because: problem)
            case .state, .subscribed, .gap, .decryptionFailed, .memberAdded, .memberRemoved, .interrupted, .signedIn, .webhook,
                .timeUp:
                break
            }
        }
    }

    private func report(_ events: Int, _ usage: (seconds: Double, cpuSeconds: Double)) {
        let peak = Usage.peakResidentKiB
        if json {
            let format = #"{"events":%d,"seconds":%.3f,"cpu_seconds":%.3f,"peak_rss_kib":%d}"#
            output(String(format: format, events, usage.seconds, usage.cpuSeconds, peak))
        } else {
            let perEvent = events > 0 ? usage.cpuSeconds / Double(events) * 1e9 : 0
            output(
                String(
                    format: "%d events in %.3f s, %.3f s of CPU (%.0f ns each), peak RSS %d KiB", events, usage.seconds,
                    usage.cpuSeconds, perEvent, peak))
        }
    }
}
