import Logging
import PusherChannels
import ServiceLifecycle

/// The snippets of doc comments that need a trait, word for word; `ci/checks/snippets` compares them. Compiled only.
enum DocCommentTests {
    static func group(_ pusher: Pusher, _ reader: any Service, _ logger: Logger) async throws {
        let group = ServiceGroup(services: [pusher, reader], gracefulShutdownSignals: [.sigterm], logger: logger)
        try await group.run()
    }
}
