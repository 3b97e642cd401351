import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A delegate that writes down what it hears, for a test to look at or to wait for.
///
/// ```swift
/// let recorder = RecordingDelegate(of: pusher)
/// pusher.connect()
/// try await recorder.next { $0 == .subscribed(channel: "news") }
/// ```
///
/// A client holds its delegate weakly: keep the recorder. All members may be used from any thread.
public final class RecordingDelegate: PusherDelegate, Sendable {
    /// Something that the client told.
    public enum Notification: Equatable, Sendable {
        /// The connection went to this state.
        case state(ConnectionState)
        /// The server confirmed a subscription.
        case subscribed(channel: String)
        /// A channel was subscribed to again; events since then may be missing.
        case gap(channel: String, since: Date)
        /// A channel could not be subscribed to; `status` and `body` are the authorization endpoint's.
        case failedToSubscribe(channel: String, error: PusherError?, status: Int? = nil, body: String? = nil)
        /// The user was signed in.
        case signedIn(userID: String)
        /// The user could not be signed in.
        case failedToSignIn(PusherError)
        /// An event of an encrypted channel could not be decrypted.
        case failedToDecrypt(String, channel: String, data: String?)
        /// Something went wrong that is not about one channel.
        case error(PusherError)
        /// An event came; only a recorder made with ``RecordingDelegate/init(of:)`` or bound by hand hears of it.
        case event(String, channel: String? = nil, data: String? = nil, userID: String? = nil)

        /// The error in it, if there is one.
        public var failure: PusherError? {
            switch self {
            case .error(let error): error
            case .failedToSignIn(let error): error
            case .failedToSubscribe(_, let error, _, _): error
            case .state, .subscribed, .gap, .signedIn, .failedToDecrypt, .event: nil
            }
        }
    }

    private let recorder = Recorder<Notification>()
    private let lines = Locked<[String]>([])

    /// Creates a recorder that has heard nothing.
    public init() {}

    /// Creates a client's delegate that also hears all its events.
    public convenience init(of pusher: Pusher) {
        self.init()
        pusher.delegate = self
        pusher.bindGlobal { [weak self] in self?.record($0) }
    }

    // MARK: What was heard

    /// Everything so far, in order.
    public var notifications: [Notification] { recorder.all }

    /// The lines for a developer.
    public var log: [String] { lines.withLock { $0 } }

    /// The states the connection went through.
    public var states: [ConnectionState] {
        notifications.compactMap { if case .state(let state) = $0 { state } else { nil } }
    }

    /// The channels that were confirmed, once for each time.
    public var subscribedChannels: [String] {
        notifications.compactMap { if case .subscribed(let channel) = $0 { channel } else { nil } }
    }

    /// The errors among the notifications.
    public var errors: [PusherError] { notifications.compactMap(\.failure) }

    /// The next notification that is wanted, now or when it comes; those before it are passed over, and not looked at again.
    ///
    /// - Parameters:
    ///   - patience: How long to wait at least, in real time: a watchdog, not a measure.
    ///   - isWanted: Says of a notification whether it is meant; by default the first is.
    /// - Throws: ``NothingCame`` when there was none in time, `CancellationError` when the task is cancelled.
    @discardableResult
    public func next(
        within patience: Duration = .seconds(30), where isWanted: @escaping @Sendable (Notification) -> Bool = { _ in true }
    ) async throws -> Notification {
        try await recorder.next("such notification", within: patience, passingOver: true, where: isWanted)
    }

    // MARK: PusherDelegate

    /// Writes an event down, for use in a binding.
    public func record(_ event: PusherEvent) {
        record(.event(event.eventName, channel: event.channelName, data: event.data, userID: event.userId))
    }

    /// Writes it down.
    public func debugLog(message: String) {
        lines.withLock { $0.append(message) }
    }

    /// Writes it down.
    public func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {
        record(.state(new))
    }

    /// Writes it down.
    public func subscribedToChannel(name: String) {
        record(.subscribed(channel: name))
    }

    /// Writes it down.
    public func eventsMayBeMissing(channelName: String, since: Date) {
        record(.gap(channel: channelName, since: since))
    }

    /// Writes it down.
    public func failedToSubscribeToChannel(name: String, response: URLResponse?, data: String?, error: NSError?) {
        let status = (response as? HTTPURLResponse)?.statusCode
        record(.failedToSubscribe(channel: name, error: error.flatMap(PusherError.init), status: status, body: data))
    }

    /// Writes it down.
    public func signedIn(userID: String) {
        record(.signedIn(userID: userID))
    }

    /// Writes it down.
    public func failedToSignIn(error: PusherError) {
        record(.failedToSignIn(error))
    }

    /// Writes it down.
    public func failedToDecryptEvent(eventName: String, channelName: String, data: String?) {
        record(.failedToDecrypt(eventName, channel: channelName, data: data))
    }

    /// Writes it down.
    public func receivedError(error: PusherError) {
        record(.error(error))
    }

    private func record(_ notification: Notification) {
        recorder.append(notification)
    }
}
