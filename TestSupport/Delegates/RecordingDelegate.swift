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
        /// An event came; only a recorder made with ``RecordingDelegate/init(of:file:line:)`` or bound by hand hears of it. Two are equal
        /// whose data is the same JSON: the order of the keys and spaces don't count.
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

        /// Returns whether two notifications tell the same.
        public static func == (first: Notification, second: Notification) -> Bool {
            switch (first, second) {
            case (.state(let first), .state(let second)): first == second
            case (.subscribed(let first), .subscribed(let second)): first == second
            case (.gap(let first, let since), .gap(let second, let otherSince)): (first, since) == (second, otherSince)
            case (
                .failedToSubscribe(let first, let error, let status, let body),
                .failedToSubscribe(let second, let otherError, let otherStatus, let otherBody)
            ):
                (first, error, status, body) == (second, otherError, otherStatus, otherBody)
            case (.signedIn(let first), .signedIn(let second)): first == second
            case (.failedToSignIn(let first), .failedToSignIn(let second)): first == second
            case (
                .failedToDecrypt(let first, let channel, let data), .failedToDecrypt(let second, let otherChannel, let otherData)
            ):
                (first, channel, data) == (second, otherChannel, otherData)
            case (.error(let first), .error(let second)): first == second
            case (
                .event(let first, let channel, let data, let user),
                .event(let second, let otherChannel, let otherData, let otherUser)
            ):
                (first, channel, user) == (second, otherChannel, otherUser) && JSONValue.isSame(data, otherData)
            default: false
            }
        }
    }

    /// A harness that wants to know of a recorder that nobody holds.
    private struct Watch {
        let scheduler: TestScheduler
        let isClientAlive: @Sendable () -> Bool
        let report: @Sendable (Finding) -> Void
    }

    private struct State {
        var lines: [String] = []
        var isLookedAt = false
        var watch: Watch?
    }

    private let recorder = Recorder<Notification>()
    private let state = Locked(State())
    private let location: String

    /// Creates a recorder that has heard nothing.
    public init(file: String = #fileID, line: Int = #line) {
        location = sourceLocation(file, line)
    }

    /// Creates a client's delegate that also hears all its events.
    public convenience init(of pusher: Pusher, file: String = #fileID, line: Int = #line) {
        self.init(file: file, line: line)
        pusher.delegate = self
        pusher.bindGlobal { [weak self] in self?.record($0) }
    }

    deinit {
        let state = state.withLock { $0 }
        guard let watch = state.watch, !state.isLookedAt, state.lines.isEmpty, recorder.all.isEmpty, watch.isClientAlive() else {
            return
        }
        watch.report(
            Finding(
                .unheard,
                "the RecordingDelegate made at \(location) was gone before it heard anything: a client holds its delegate weakly, keep it"
            ))
    }

    /// Has the recorder say when it goes before it heard anything or was looked at, while its client goes on.
    func watch(
        in scheduler: TestScheduler, _ isClientAlive: @escaping @Sendable () -> Bool,
        _ report: @escaping @Sendable (Finding) -> Void
    ) {
        state.withLock { $0.watch = Watch(scheduler: scheduler, isClientAlive: isClientAlive, report: report) }
    }

    private func look() {
        state.withLock { $0.isLookedAt = true }
    }

    // MARK: Entries

    /// Everything so far, in order.
    public var notifications: [Notification] {
        look()
        return recorder.all
    }

    /// The lines for a developer.
    public var log: [String] {
        look()
        return state.withLock { $0.lines }
    }

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

    /// Passes over all that was heard so far, for a ``next(within:file:line:where:)`` that is to be of what follows, such as a reconnect.
    public func passOver() {
        look()
        recorder.passOver()
    }

    /// The next notification that is wanted, now or when it comes: the first of those that nobody got here, so that it may have come
    /// before (``passOver()``). Those before it are passed over, and not looked at again.
    ///
    /// - Parameters:
    ///   - patience: The least time to wait, in real time: a watchdog, not a measure.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    ///   - isWanted: Says of a notification whether it is meant; by default the first is.
    /// - Throws: ``NothingCame`` when there was none in time, `CancellationError` when the task is cancelled.
    @discardableResult
    public func next(
        within patience: Duration = .seconds(30), file: String = #fileID, line: Int = #line,
        where isWanted: @escaping @Sendable (Notification) -> Bool = { _ in true }
    ) async throws -> Notification {
        look()
        let wait = RecorderWait(
            "such notification", within: patience, at: sourceLocation(file, line),
            scheduler: state.withLock { $0.watch?.scheduler }, passesOver: true)
        return try await recorder.next(wait, where: isWanted)
    }

    // MARK: PusherDelegate

    /// Writes an event down, for use in a binding.
    public func record(_ event: PusherEvent) {
        record(.event(event.eventName, channel: event.channelName, data: event.data, userID: event.userId))
    }

    /// Writes it down.
    public func debugLog(message: String) {
        state.withLock { $0.lines.append(message) }
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
