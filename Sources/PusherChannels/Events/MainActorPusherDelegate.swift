import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A delegate like ``PusherDelegate`` that is called on the main actor: for view controllers, view models and other classes that
/// live there.
///
/// The methods are those of ``PusherDelegate``, and each is optional. With ``PusherClientOptions/delivery`` `.queue(.main)` they
/// are called directly; with any other policy they take one more hop, to the main queue, and keep their order. Set the delegate
/// with ``Pusher/mainActorDelegate`` or ``PusherPool/mainActorDelegate``.
@MainActor
public protocol MainActorPusherDelegate: AnyObject {
    /// A log line about the connection, for developers (``PusherDelegate/debugLog(message:)``).
    func debugLog(message: String)

    /// The connection went from one state to another.
    func changedConnectionState(from old: ConnectionState, to new: ConnectionState)

    /// The server confirmed the subscription to a channel; after a reconnect, again.
    func subscribedToChannel(name: String)

    /// Events sent on the channel since that time may be missing (``PusherDelegate/eventsMayBeMissing(channelName:since:)``).
    func eventsMayBeMissing(channelName: String, since: Date)

    /// A channel could not be subscribed to.
    func failedToSubscribeToChannel(name: String, error: PusherError)

    /// A channel could not be subscribed to
    /// (``PusherDelegate/failedToSubscribeToChannel(name:response:data:error:)``).
    func failedToSubscribeToChannel(name: String, response: URLResponse?, data: String?, error: NSError?)

    /// The user was signed in; after a reconnect, again.
    func signedIn(userID: String)

    /// The user could not be signed in.
    func failedToSignIn(error: PusherError)

    /// An event of an encrypted channel could not be decrypted.
    func failedToDecryptEvent(eventName: String, channelName: String, data: String?)

    /// The server sent a `pusher:error`.
    func receivedError(error: PusherError)

    /// The client met an error that isn't about a single channel (``PusherDelegate/clientReported(error:)``).
    func clientReported(error: PusherError)
}

extension MainActorPusherDelegate {
    /// Ignores the line.
    public func debugLog(message: String) {}

    /// Ignores the change.
    public func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {}

    /// Does nothing.
    public func subscribedToChannel(name: String) {}

    /// Does nothing.
    public func eventsMayBeMissing(channelName: String, since: Date) {}

    /// Ignores the failure.
    public func failedToSubscribeToChannel(name: String, error: PusherError) {}

    /// Ignores the failure.
    public func failedToSubscribeToChannel(name: String, response: URLResponse?, data: String?, error: NSError?) {}

    /// Does nothing.
    public func signedIn(userID: String) {}

    /// Ignores the failure.
    public func failedToSignIn(error: PusherError) {}

    /// Ignores the failure.
    public func failedToDecryptEvent(eventName: String, channelName: String, data: String?) {}

    /// Ignores the error.
    public func receivedError(error: PusherError) {}

    /// Ignores the error.
    public func clientReported(error: PusherError) {}
}
