import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A delegate that records its notifications, so a test can inspect them or wait for them.
///
/// ```swift
/// let recorder = RecordingDelegate(of: pusher)
/// pusher.connect()
/// try await recorder.next { $0 == .subscribed(channel: "news") }
/// ```
///
/// A client holds its delegate weakly, so keep a reference to the recorder. All members may be used from any thread.
public final class RecordingDelegate: PusherDelegate, Sendable {
    /// A notification from the client.
    public enum Notification: Equatable, Sendable {
        /// The connection entered this state.
        case state(ConnectionState)
        /// The server confirmed a subscription.
        case subscribed(channel: String)
        /// A channel was resubscribed; events since then may be missing.
        case gap(channel: String, since: Date)
        /// Subscribing to a channel failed; `status` and `body` are those of the authorization endpoint's response.
        case failedToSubscribe(channel: String, error: PusherError?, status: Int? = nil, body: String? = nil)
        /// The user was signed in.
        case signedIn(userID: String)
        /// The user could not be signed in.
        case failedToSignIn(PusherError)
        /// An event of an encrypted channel could not be decrypted.
        case failedToDecrypt(String, channel: String, data: String?)
        /// The server sent a `pusher:error`.
        case error(PusherError)
        /// The client met another error that isn't about a single channel, such as a failed attempt to connect.
        case reported(PusherError)
        /// An event arrived. Only a recorder made with ``RecordingDelegate/init(of:file:line:)`` or bound by hand receives
        /// events. Two events are equal if their data is the same JSON; the order of keys and whitespace don't count.
        case event(String, channel: String? = nil, data: String? = nil, userID: String? = nil)

        /// The notification's error, if it has one.
        public var failure: PusherError? {
            switch self {
            case .error(let error), .reported(let error): error
            case .failedToSignIn(let error): error
            case .failedToSubscribe(_, let error, _, _): error
            case .state, .subscribed, .gap, .signedIn, .failedToDecrypt, .event: nil
            }
        }

        /// Returns whether two names are the same, by their bytes.
        private static func isSame(_ first: String?, _ second: String?) -> Bool {
            first.map { Name($0) } == second.map { Name($0) }
        }

        /// Returns whether two notifications are equal.
        public static func == (first: Notification, second: Notification) -> Bool {
            switch (first, second) {
            case (.state(let first), .state(let second)): first == second
            case (.subscribed(let first), .subscribed(let second)): isSame(first, second)
            case (.gap(let first, let since), .gap(let second, let otherSince)): isSame(first, second) && since == otherSince
            case (
                .failedToSubscribe(let first, let error, let status, let body),
                .failedToSubscribe(let second, let otherError, let otherStatus, let otherBody)
            ):
                isSame(first, second) && (error, status, body) == (otherError, otherStatus, otherBody)
            case (.signedIn(let first), .signedIn(let second)): isSame(first, second)
            case (.failedToSignIn(let first), .failedToSignIn(let second)): first == second
            case (
                .failedToDecrypt(let first, let channel, let data), .failedToDecrypt(let second, let otherChannel, let otherData)
            ):
                isSame(first, second) && isSame(channel, otherChannel) && data == otherData
            case (.error(let first), .error(let second)), (.reported(let first), .reported(let second)): first == second
            case (
                .event(let first, let channel, let data, let user),
                .event(let second, let otherChannel, let otherData, let otherUser)
            ):
                isSame(first, second) && isSame(channel, otherChannel) && isSame(user, otherUser)
                    && JSONValue.isSame(data, otherData)
            default: false
            }
        }
    }

    /// A harness's check for recorders that nobody holds.
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

    /// Creates an empty recorder.
    public init(file: String = #fileID, line: Int = #line) {
        location = sourceLocation(file, line)
    }

    /// Creates a recorder as a client's delegate and binds it to all of the client's events.
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

    /// Makes the recorder report a finding if it is deallocated before it received anything or was looked at, while its client is
    /// still alive.
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

    /// All notifications so far, in order.
    public var notifications: [Notification] {
        look()
        return recorder.all
    }

    /// The client's debug log messages.
    public var log: [String] {
        look()
        return state.withLock { $0.lines }
    }

    /// The states the connection went through.
    public var states: [ConnectionState] {
        notifications.compactMap { if case .state(let state) = $0 { state } else { nil } }
    }

    /// The channels whose subscriptions were confirmed, once for each confirmation.
    public var subscribedChannels: [String] {
        notifications.compactMap { if case .subscribed(let channel) = $0 { channel } else { nil } }
    }

    /// The errors among the notifications.
    public var errors: [PusherError] { notifications.compactMap(\.failure) }

    /// Skips everything received so far, so the next call to ``next(within:file:line:where:)`` returns something later, such as
    /// part of a reconnect.
    public func passOver() {
        look()
        recorder.passOver()
    }

    /// Returns the next notification that matches, waiting for it if necessary.
    ///
    /// It returns the first match that wasn't returned or skipped yet, so the notification may have arrived before the call; to
    /// prevent that, call ``passOver()``. The notifications before the match are skipped and not considered again.
    ///
    /// - Parameters:
    ///   - patience: The minimum real time to wait: a watchdog, not a measurement.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    ///   - isWanted: A closure that returns whether a notification matches; by default, every notification does.
    /// - Throws: ``NothingCame`` if no match arrives in time; `CancellationError` if the task is cancelled.
    @discardableResult
    public func next(
        within patience: Duration = .seconds(5), file: String = #fileID, line: Int = #line,
        where isWanted: @escaping @Sendable (Notification) -> Bool = { _ in true }
    ) async throws -> Notification {
        look()
        let wait = RecorderWait(
            "such notification", within: patience, at: sourceLocation(file, line),
            scheduler: state.withLock { $0.watch?.scheduler }, passesOver: true)
        return try await recorder.next(wait, where: isWanted)
    }

    // MARK: PusherDelegate

    /// Records an event, for use in a binding.
    public func record(_ event: PusherEvent) {
        record(.event(event.eventName, channel: event.channelName, data: event.data, userID: event.userID))
    }

    /// Records a line of the debug log.
    public func debugLog(message: String) {
        state.withLock { $0.lines.append(message) }
    }

    /// Records the new state.
    public func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {
        record(.state(new))
    }

    /// Records the subscription.
    public func subscribedToChannel(name: String) {
        record(.subscribed(channel: name))
    }

    /// Records the gap.
    public func eventsMayBeMissing(channelName: String, since: Date) {
        record(.gap(channel: channelName, since: since))
    }

    /// Records the failure, with the response's status.
    public func failedToSubscribeToChannel(name: String, response: URLResponse?, data: String?, error: NSError?) {
        let status = (response as? HTTPURLResponse)?.statusCode
        record(.failedToSubscribe(channel: name, error: error.flatMap(PusherError.init), status: status, body: data))
    }

    /// Records the sign-in.
    public func signedIn(userID: String) {
        record(.signedIn(userID: userID))
    }

    /// Records the failure.
    public func failedToSignIn(error: PusherError) {
        record(.failedToSignIn(error))
    }

    /// Records the event that couldn't be decrypted.
    public func failedToDecryptEvent(eventName: String, channelName: String, data: String?) {
        record(.failedToDecrypt(eventName, channel: channelName, data: data))
    }

    /// Records the error.
    public func receivedError(error: PusherError) {
        record(.error(error))
    }

    /// Records the error.
    public func clientReported(error: PusherError) {
        record(.reported(error))
    }

    private func record(_ notification: Notification) {
        recorder.append(notification)
    }
}
