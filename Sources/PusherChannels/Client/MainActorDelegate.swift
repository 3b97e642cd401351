import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Passes on to the main actor what a client tells its delegate. Calls that wait there count as those that wait for the client's delivery
/// queue: a main thread that is busy makes the server wait.
final class MainActorDelegate: PusherDelegate, Sendable {
    private let target: Locked<Target>
    /// Indicates whether the client delivers on the main queue: a hop less.
    private let isCalledOnMain: Bool
    /// Is told that so many calls more wait, and how many bytes they keep; or fewer, where they were made.
    private let noteWaiting: @Sendable (_ calls: Int, _ bytes: Int) -> Void

    /// The mark by which the main queue is recognized: on Linux `DispatchQueue.main` is another object each time.
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

    /// Another is the delegate now: this one doesn't hear what is on its way.
    func forget() {
        target.withLock { $0.delegate = nil }
    }

    /// Calls the closure when all calls that wait now were made.
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
}
