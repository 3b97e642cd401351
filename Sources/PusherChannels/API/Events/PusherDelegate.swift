import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Hears what happens to a connection and its channels. Every method is optional.
///
/// The calls come where ``PusherClientOptions/delivery`` says, in the order in which things happened. The delegate is held
/// weakly. It needs not be `Sendable`, but it can't be isolated to an actor: it would be called off that actor. A class that lives on
/// the main actor conforms to ``MainActorPusherDelegate``.
public protocol PusherDelegate: AnyObject, SendableMetatype {
    /// A line about what the connection does, for a developer: the same that the logger gets, its metadata behind the message.
    func debugLog(message: String)

    /// The connection went from one state to another.
    func changedConnectionState(from old: ConnectionState, to new: ConnectionState)

    /// The server confirmed the subscription to a channel; after a reconnect, again.
    func subscribedToChannel(name: String)

    /// A channel was subscribed to again after it had been lost: events sent on it since that time may not have come. The protocol
    /// has no way to ask for them; an application that needs them asks its own server. The signed-in user's own channel, too, is such
    /// a channel, `#server-to-user-` before the user's id.
    func eventsMayBeMissing(channelName: String, since: Date)

    /// A channel could not be subscribed to.
    func failedToSubscribeToChannel(name: String, error: PusherError)

    /// A channel could not be subscribed to: for programs that look at the endpoint's response. Called after
    /// ``failedToSubscribeToChannel(name:error:)``.
    ///
    /// If an authorization endpoint responded, `response` has its status and `data` its body, unless that may hold part of a secret.
    /// `PusherError(error)` is the error with its kind.
    func failedToSubscribeToChannel(name: String, response: URLResponse?, data: String?, error: NSError?)

    /// The user was signed in; after a reconnect, again.
    func signedIn(userID: String)

    /// The user could not be signed in. Where the authorization failed for a reason that may be over (``PusherError/isRetryable``) it is asked
    /// for again after a while. The next connection tries again in any case, but not before an endpoint's `Retry-After` is over;
    /// ``Pusher/signIn()`` does so at once.
    func failedToSignIn(error: PusherError)

    /// An event of an encrypted channel could not be decrypted, with a new key neither; `data` is as the server sent it.
    func failedToDecryptEvent(eventName: String, channelName: String, data: String?)

    /// Something went wrong that is not about one channel: what the server said in a `pusher:error`, a connection that could not
    /// be made, a frame that could not be read. The connection looks after itself.
    func receivedError(error: PusherError)
}

extension PusherDelegate {
    /// Ignores the line.
    public func debugLog(message: String) {}

    /// Ignores the change.
    public func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {}

    /// Ignores the news.
    public func subscribedToChannel(name: String) {}

    /// Does nothing.
    public func eventsMayBeMissing(channelName: String, since: Date) {}

    /// Ignores the failure.
    public func failedToSubscribeToChannel(name: String, error: PusherError) {}

    /// Ignores the failure.
    public func failedToSubscribeToChannel(name: String, response: URLResponse?, data: String?, error: NSError?) {}

    /// Ignores the news.
    public func signedIn(userID: String) {}

    /// Ignores the failure.
    public func failedToSignIn(error: PusherError) {}

    /// Ignores the failure.
    public func failedToDecryptEvent(eventName: String, channelName: String, data: String?) {}

    /// Ignores the error.
    public func receivedError(error: PusherError) {}
}
