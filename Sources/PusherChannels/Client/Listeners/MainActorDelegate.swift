import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A delegate that forwards a client's calls to a delegate on the main actor. Calls that wait there count like those that wait
/// for the client's delivery queue, so a busy main thread makes the server wait.
final class MainActorDelegate: PusherDelegate, Sendable {
    private let target: Locked<Target>
    /// Indicates whether the client delivers on the main queue, which saves a hop.
    private let isCalledOnMain: Bool
    /// Reports the change in the number of waiting calls, and in the bytes they keep. Both are negative when a call was made.
    private let noteWaiting: @Sendable (_ calls: Int, _ bytes: Int) -> Void

    /// The key that identifies the main queue: on Linux, `DispatchQueue.main` is a different object each time.
    private static let mainQueue = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    private struct Target {
        weak var delegate: (any MainActorPusherDelegate)?
    }

    init(
        _ delegate: any MainActorPusherDelegate, deliveryQueue: DispatchQueue?,
        noteWaiting: @escaping @Sendable (_ calls: Int, _ bytes: Int) -> Void
    ) {
        target = Locked(Target(delegate: delegate))
        self.noteWaiting = noteWaiting
        isCalledOnMain = deliveryQueue?.getSpecific(key: Self.mainQueue) != nil
    }

    var delegate: (any MainActorPusherDelegate)? { target.withLock(\.delegate) }

    /// Forgets the delegate, as another one replaced it: it doesn't get the calls that are on their way.
    func forget() {
        target.withLock { $0.delegate = nil }
    }

    /// Calls the closure once all calls that wait now were made.
    func afterCalls(_ body: @escaping @Sendable () -> Void) {
        if isCalledOnMain { body() } else { DispatchQueue.main.async(execute: body) }
    }

    private func call(keeping bytes: Int = 0, _ method: @escaping @MainActor (any MainActorPusherDelegate) -> Void) {
        guard !isCalledOnMain else { return MainActor.assumeIsolated { if let delegate { method(delegate) } } }
        noteWaiting(1, bytes)
        DispatchQueue.main.async { [self] in
            MainActor.assumeIsolated { if let delegate { method(delegate) } }
            noteWaiting(-1, -bytes)
        }
    }

    func debugLog(message: String) {
        call(keeping: message.utf8.count) { $0.debugLog(message: message) }
    }

    func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {
        call { $0.changedConnectionState(from: old, to: new) }
    }

    func subscribedToChannel(name: String) {
        call { $0.subscribedToChannel(name: name) }
    }

    func eventsMayBeMissing(channelName: String, since: Date) {
        call { $0.eventsMayBeMissing(channelName: channelName, since: since) }
    }

    func failedToSubscribeToChannel(name: String, error: PusherError) {
        call { $0.failedToSubscribeToChannel(name: name, error: error) }
    }

    func failedToSubscribeToChannel(name: String, response: URLResponse?, data: String?, error: NSError?) {
        call(keeping: data?.utf8.count ?? 0) {
            $0.failedToSubscribeToChannel(name: name, response: response, data: data, error: error)
        }
    }

    func signedIn(userID: String) {
        call { $0.signedIn(userID: userID) }
    }

    func failedToSignIn(error: PusherError) {
        call { $0.failedToSignIn(error: error) }
    }

    func failedToDecryptEvent(eventName: String, channelName: String, data: String?) {
        call(keeping: data?.utf8.count ?? 0) {
            $0.failedToDecryptEvent(eventName: eventName, channelName: channelName, data: data)
        }
    }

    func receivedError(error: PusherError) {
        call { $0.receivedError(error: error) }
    }

    func clientReported(error: PusherError) {
        call { $0.clientReported(error: error) }
    }
}
