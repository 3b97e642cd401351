import Foundation
import Logging
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A client with every kind of listener: a delegate, closures, callbacks and streams that take the texts they receive.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class CostSubject {
    private let socket = MemorySocket()
    private let executor = HandExecutor()
    private let pusher: Pusher
    private let listener = Listener()
    private var readers: [Task<Void, any Error>] = []

    init(in scene: CostScene) {
        let environment = PusherEnvironment(
            scheduler: FrozenScheduler(), makeWebSocket: { [socket] in socket }, wallClock: { Date(timeIntervalSince1970: 0) },
            randomSeed: { 1 })
        pusher = Pusher(key: "local-key", options: CostScene.options, environment: environment)
        pusher.connection.userDataFetcher = { PusherPresenceChannelMember(userID: "me") }
        pusher.delegate = listener
        listen()
        pusher.connect()
        socket.hasOpened()
        for frame in scene.frames { deliver(Array(frame.utf8)) }
    }

    deinit {
        // The streams end with the client, and the tasks with the streams.
        pusher.disconnect()
        for reader in readers { reader.cancel() }
        executor.run()
    }

    private func listen() {
        let room = pusher.subscribe("room")
        room.bind(eventName: "new", eventCallback: { take($0) })
        pusher.subscribe("waiting")
        pusher.subscribe("private-encrypted-room").bind(eventName: "new", eventCallback: { take($0) })
        let presence = pusher.subscribeToPresenceChannel(
            channelName: "presence-room", onMemberAdded: { take($0.userID) },
            onMemberRemoved: { take($0.userID) })
        pusher.bind(eventCallback: { take($0) })
        pusher.user.bind(eventName: "new", eventCallback: { take($0) })
        for event in ["online", "offline"] {
            pusher.user.watchlist.bind(eventName: event) { users in for user in users { take(user) } }
        }
        pusher.signIn { _ in }
        let events = pusher.events(buffering: StreamBuffering())
        let members = presence.updates(buffering: StreamBuffering())
        readers = [
            Task(executorPreference: executor) { for try await event in events { take(event) } },
            Task(executorPreference: executor) { for try await _ in members {} },
        ]
        executor.run()
    }

    /// Lets the client read a message, and its listeners take the result.
    func deliver(_ message: [UInt8]) {
        socket.deliver(message)
        executor.run()
    }
}

private func take(_ event: PusherEvent) {
    take(event.eventName)
    if let channel = event.channelName { take(channel) }
    if let data = event.data { take(data) }
}

/// Takes a text, which forces it to be created.
@inline(never)
private func take(_ text: String) {
    withExtendedLifetime(text) {}
}

/// A delegate that takes everything it receives.
private final class Listener: PusherDelegate, Sendable {
    func debugLog(message: String) { take(message) }
    func subscribedToChannel(name: String) { take(name) }
    func signedIn(userID: String) { take(userID) }
    func failedToSignIn(error: PusherError) { take(error.message) }
    func receivedError(error: PusherError) { take(error.message) }
    func clientReported(error: PusherError) { take(error.message) }

    func failedToSubscribeToChannel(name: String, response: URLResponse?, data: String?, error: NSError?) {
        take(error?.localizedDescription ?? "")
    }

    func failedToDecryptEvent(eventName: String, channelName: String, data: String?) {
        take(eventName)
        take(data ?? "")
    }

}

extension CostScene {
    /// The options of a client that can do everything there is, and logs it.
    static var options: PusherClientOptions {
        let masterKey = Data(Self.masterKey).base64EncodedString()
        var options = PusherClientOptions(
            authMethod: .inline(secret: "secret", encryptionMasterKey: masterKey),
            userAuthMethod: .inline(secret: "secret", userData: #"{"id":"me"}"#), useTLS: false, limits: .unchecked,
            delivery: .immediate)
        options.logger = Logger(label: "cost") { _ in LineReader() }
        return options
    }
}

/// A log handler that reads each line, as a log would.
private struct LineReader: LogHandler {
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let channel = event.metadata?["channel"].map { "\($0)" } ?? ""
        withExtendedLifetime("\(event.message)\(channel)") {}
    }
}
