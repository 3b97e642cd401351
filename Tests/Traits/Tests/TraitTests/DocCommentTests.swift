import Configuration
import Foundation
import Logging
import PusherChannels
import ServiceLifecycle
import TestSupport
import Tracing

/// The snippets of doc comments that need a trait, word for word; `ci/checks/snippets` compares them. Compiled only.
enum DocCommentTests {
    static func group(_ pusher: Pusher, _ reader: any Service, _ logger: Logger) async throws {
        let group = ServiceGroup(services: [pusher, reader], gracefulShutdownSignals: [.sigterm], logger: logger)
        try await group.run()
    }

    static func configured() throws -> (Pusher, PusherHTTPAPI) {
        let config = ConfigReader(provider: EnvironmentVariablesProvider())
        let pusher = try Pusher(config: config)
        let api = try PusherHTTPAPI(config: config)
        return (pusher, api)
    }

    static func ready(_ pusher: Pusher) -> (Int, String) {
        func ready(_ pusher: Pusher) -> (status: Int, body: String) {
            let health = pusher.health
            return (
                health.isReady ? 200 : 503,
                "\(health.subscribed) of \(health.channels) channels"
            )
        }
        return ready(pusher)
    }

    struct ChannelReader: Service {
        let pusher: Pusher
        let channel: String
        var clock: any Clock<Duration> = ContinuousClock()

        func run() async throws {
            while true {
                do {
                    for try await update in pusher.updates(of: channel) { await handle(update) }
                    return  // the client ends, or the channel was given up
                } catch {
                    guard [.authorization, .subscriptionRefused].contains(error.kind) else { throw error }
                    print("not in \(channel), for now: \(error)")
                }
                do {
                    try await cancelWhenGracefulShutdown { try await clock.sleep(for: .seconds(60), tolerance: nil) }
                } catch {
                    return  // the group ends
                }
            }
        }
    }

    static func readChannels(_ pusher: Pusher, _ logger: Logger) async throws {
        let readers = ["private-orders", "private-returns"].map { ChannelReader(pusher: pusher, channel: $0) as any Service }
        let group = ServiceGroup(services: [pusher] + readers, gracefulShutdownSignals: [.sigterm], logger: logger)
        try await group.run()
    }

    static func endAtSIGTERM(_ pusher: Pusher) {
        let termination = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .main)  // to be kept
        termination.setEventHandler {
            Task {
                await pusher.shutdown()
                exit(EXIT_SUCCESS)  // where it ends with dispatchMain()
            }
        }
        termination.resume()
    }

    static func beside(_ harness: TestHarness, _ pusher: Pusher, _ reader: any Service) async throws {
        try await harness.withServices(pusher, reader) {
            try await harness.eventually { pusher.connection.connectionState == .connected }
            harness.server.publish(channel: "news", event: "headline", data: "hello")
        }
    }

    struct Order: Codable {
        let number: Int
        var context: PropagatedContext?
    }

    static func link(_ orders: PusherChannel) {
        orders.bind(eventName: "placed") { event in
            guard let order = try? event.decode(Order.self) else { return }
            withSpan("deliver", context: .topLevel, ofKind: .consumer) { span in
                if let cause = order.context?.serviceContext() { span.addLink(SpanLink(context: cause, attributes: [:])) }
            }
        }
    }
}

extension DocCommentTests.ChannelReader {
    func handle(_ update: ChannelUpdate) async {}
}
