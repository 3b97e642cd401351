import Foundation
import PusherChannels

/// A client whose happenings can be waited for.
final class DemoClient {
    let pusher: Pusher
    private let happenings = Happenings()
    private var iterator: AsyncStream<Happening>.Iterator

    init(options: PusherClientOptions) {
        iterator = happenings.stream.makeAsyncIterator()
        pusher = Pusher(key: "local-key", options: options)
        pusher.delegate = happenings
        pusher.bind { [happenings] in happenings.add(.event($0)) }
    }

    func subscribe(_ channel: String) {
        let happenings = happenings
        pusher.subscribe(
            channel,
            onMemberAdded: { happenings.add(.memberAdded($0.userId)) },
            onMemberRemoved: { happenings.add(.memberRemoved($0.userId)) })
    }

    func presence(_ channel: String) -> PusherPresenceChannel? {
        pusher.connection.channels.findPresence(name: channel)
    }

    /// Waits for what the closure recognizes; whatever else happens meanwhile is passed over.
    func wait<Value>(for recognize: (Happening) throws -> Value?) async throws -> Value {
        while let happening = await iterator.next(isolation: nil) {
            if let value = try recognize(happening) { return value }
        }
        throw Failure("the client ended")
    }

    /// Any error ends the wait: where the first connection meets one, it is the way that is wrong, and trying again doesn't help.
    func waitForFirstConnection() async throws {
        try await wait { happening in
            switch happening {
            case .state(.connected): ()
            case .error(let error): throw error
            default: nil
            }
        }
    }

    func waitForSubscriptions(_ channels: Set<String>) async throws {
        var missing = channels
        while !missing.isEmpty {
            missing.remove(
                try await wait {
                    if case .subscribed(let channel) = $0 { channel } else { nil }
                })
        }
    }

    func waitForState(_ state: ConnectionState) async throws {
        try await wait { if case .state(state) = $0 { () } else { nil } }
    }

    func waitForEvent(_ name: String) async throws -> PusherEvent {
        try await wait { if case .event(let event) = $0, event.eventName == name { event } else { nil } }
    }
}
