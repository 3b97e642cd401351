import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A delegate that is notified of changes to a connection and its channels. Every method is optional.
///
/// The methods are called on ``PusherClientOptions/delivery``, in the order in which things happened. The delegate is held
/// weakly. It doesn't have to be `Sendable`, but it can't be isolated to an actor, because it would be called off that actor. A
/// class that lives on the main actor conforms to ``MainActorPusherDelegate``.
public protocol PusherDelegate: AnyObject, SendableMetatype {
    /// A log line about the connection, for developers: the same line that the logger gets, with its metadata after the message.
    func debugLog(message: String)

    /// The connection went from one state to another.
    func changedConnectionState(from old: ConnectionState, to new: ConnectionState)

    /// The server confirmed the subscription to a channel; after a reconnect, again.
    func subscribedToChannel(name: String)

    /// Events that were sent on a channel since that time may be missing: it was lost and is subscribed again, closures were too
    /// slow, or Sockudo's history doesn't have what was missed. The protocol has no way to ask for them; an application that needs
    /// them asks its own server. This includes the signed-in user's own channel, whose name is `#server-to-user-` followed by the
    /// user's id.
    func eventsMayBeMissing(channelName: String, since: Date)

    /// A channel could not be subscribed to. A failure that is retried is reported once, and again when its reason changes.
    func failedToSubscribeToChannel(name: String, error: PusherError)

    /// A channel could not be subscribed to: for programs that read the endpoint's response. Called after
    /// ``failedToSubscribeToChannel(name:error:)``.
    ///
    /// If an authorization endpoint responded, `response` has its status and `data` its body, unless that may contain part of a
    /// secret. `error` has the domain `NSURLErrorDomain` and a code of `URLError` if the network failed; `PusherError(error)` is the
    /// error with its kind.
    func failedToSubscribeToChannel(name: String, response: URLResponse?, data: String?, error: NSError?)

    /// The user was signed in; after a reconnect, again.
    func signedIn(userID: String)

    /// The user could not be signed in. If the authorization failed with a retryable error (``PusherError/isRetryable``), it is
    /// requested again after a while, and reported again when the reason changes. The next connection tries again in any case, but not before an endpoint's `Retry-After` is
    /// over; ``Pusher/signIn()`` tries again at once.
    func failedToSignIn(error: PusherError)

    /// An event of an encrypted channel could not be decrypted, even with a new key; `data` is as the server sent it.
    func failedToDecryptEvent(eventName: String, channelName: String, data: String?)

    /// The server sent a `pusher:error`. It may explain a refusal, or a close that follows.
    func receivedError(error: PusherError)

    /// The client met an error that isn't about a single channel: a connection could not be made, the server closed it with a
    /// code, or a frame could not be read. Called for each failed attempt, but not for closes by servers that restart or are
    /// overloaded (1000, 1001, 1005, 1006, 1011 to 1014, 4100 to 4299), however often: to notice an outage, look at
    /// ``changedConnectionState(from:to:)``. The client goes on by itself: nobody needs to be told, unless the state is
    /// `disconnected`.
    func clientReported(error: PusherError)
}

extension PusherDelegate {
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
