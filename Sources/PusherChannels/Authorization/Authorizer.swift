import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Gets authorizations for channels the application's own way; called where ``AuthMethod`` says.
@preconcurrency
public protocol Authorizer: Sendable {
    /// Gets the authorization for one channel on the connection that has this socket id.
    ///
    /// Call the handler once, on any thread, with the authorization, or with nil when there is none: the subscription then
    /// fails. A call that comes too late or twice is ignored.
    func fetchAuthValue(
        socketID: String, channelName: String, completionHandler: @escaping @Sendable (PusherAuth?) -> Void)
}

/// Builds the request that asks for an authorization; called where ``AuthMethod`` says.
@preconcurrency
public protocol AuthRequestBuilderProtocol: Sendable {
    /// The request for one channel on the connection that has this socket id; nil makes the subscription fail.
    func requestFor(socketID: String, channelName: String) -> URLRequest?
}
