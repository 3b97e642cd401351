import Foundation

/// The server's side of an app: publishes events, asks about channels and users, ends users' connections.
///
/// Requests go through the environment's ``PusherEnvironment/httpSession`` and are signed with the app's secret, which no
/// description shows. May be used from any thread.
///
/// Arguments are checked first: a mistake throws a ``PusherError`` of kind `invalidRequest`, and nothing is sent. What the
/// server or the network make of it throws one of kind `httpAPI` with an ``HTTPAPIFailure``, and the HTTP status as its code.
/// A cancelled task throws `CancellationError`; a publish that was on its way then may have been carried out.
///
/// Failed requests are made again as ``PusherHTTPAPIOptions/retryPolicy`` says, by default never so that an event could be published
/// twice: one whose response was lost throws ``HTTPAPIFailure/noResponse``.
public struct PusherHTTPAPI: Sendable, CustomStringConvertible {
    let client: HTTPAPIClient
    let options: PusherHTTPAPIOptions

    /// Creates the API of one app; `port` nil means the scheme's own. With one outside 1 to 65535 every request throws.
    ///
    /// If TLS or a proxy need settings, give the environment a session that has them (``PusherEnvironment/httpSession``).
    public init(
        appID: String, key: String, secret: String, host: PusherHost = .defaultHost, port: Int? = nil, useTLS: Bool = true,
        options: PusherHTTPAPIOptions = PusherHTTPAPIOptions(), environment: PusherEnvironment = .live
    ) {
        self.options = options
        let signer = RequestSigner(
            appID: appID, key: key, secret: secret, host: host, port: port, useTLS: useTLS, path: options.path,
            timeout: options.timeout)
        client = HTTPAPIClient(signer: signer, retryPolicy: options.retryPolicy, environment: environment)
    }

    /// The app's id and key, not its secret.
    public var description: String { "PusherHTTPAPI(app \(client.signer.appID), key \(client.signer.key))" }
}
