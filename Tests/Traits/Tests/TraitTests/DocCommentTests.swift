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
