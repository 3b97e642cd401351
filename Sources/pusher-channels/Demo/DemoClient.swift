import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Asks the server's authorisation endpoint on behalf of a user, as an application with users of its own does.
private struct SignedInUser: AuthRequestBuilderProtocol {
    let userID: String
    let port: Int

    func requestFor(socketID: String, channelName: String) -> URLRequest? {
        guard let url = URL(string: "http://127.0.0.1:\(port)/pusher/auth") else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data("socket_id=\(socketID)&channel_name=\(channelName)&user_id=\(userID)".utf8)
        return request
    }
}

/// A client whose happenings can be waited for.
final class DemoClient {
    let pusher: Pusher
    private let happenings = Happenings()
    private var iterator: AsyncStream<Happening>.Iterator

    init(port: Int, userID: String) {
        iterator = happenings.stream.makeAsyncIterator()
        pusher = Pusher(
            key: "local-key",
            options: PusherClientOptions(
                authMethod: .authRequestBuilder(authRequestBuilder: SignedInUser(userID: userID, port: port)),
                host: .host("127.0.0.1"), port: port, useTLS: false))
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

    /// Waits for what the closure recognises; whatever else happens meanwhile is passed over.
    func wait<Value>(for recognise: (Happening) -> Value?) async throws -> Value {
        while let happening = await iterator.next(isolation: nil) {
            if let value = recognise(happening) { return value }
        }
        throw Failure("the client ended")
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
