import Foundation
import Logging

/// A client of the HTTP API for an app's server: publishes events, queries channels and users, and closes users' connections.
///
/// Requests go through the environment's ``PusherEnvironment/httpSession`` and are signed with the app's secret, which no
/// description shows. May be used from any thread.
///
/// Arguments are checked first: a mistake throws a ``PusherError`` of kind `invalidRequest`, and nothing is sent. A failure of
/// the server or the network throws one of kind `httpAPI` with an ``HTTPAPIFailure``, and the HTTP status as its code. A
/// cancelled task throws `CancellationError`; a publish that was already sent may have been carried out.
///
/// Failed requests are retried according to ``PusherHTTPAPIOptions/retryPolicy``. By default, an event is never published twice:
/// a publish whose response was lost throws ``HTTPAPIFailure/noResponse``.
public struct PusherHTTPAPI: Sendable, CustomStringConvertible {
    let client: HTTPAPIClient
    let options: PusherHTTPAPIOptions

    /// Creates the API of one app. If `port` is nil, it is the scheme's own; with a port outside 1 to 65535, every request
    /// throws.
    ///
    /// If TLS or a proxy needs settings, give the environment a session that has them (``PusherEnvironment/httpSession``).
    public init(
        appID: String, key: String, secret: String, host: PusherHost = .defaultHost, port: Int? = nil, useTLS: Bool = true,
        options: PusherHTTPAPIOptions = PusherHTTPAPIOptions(), environment: PusherEnvironment = .live
    ) {
        self.options = options
        let signer = RequestSigner(
            appID: appID, key: key, secret: secret, host: host, port: port, useTLS: useTLS, path: options.path,
            timeout: options.timeout)
        client = HTTPAPIClient(signer: signer, retryPolicy: options.retryPolicy, environment: environment, logger: options.logger)
    }

    /// The app's id and key, not its secret.
    public var description: String { "PusherHTTPAPI(app \(client.signer.appID), key \(client.signer.key))" }
}

/// The settings of requests to the HTTP API, and of the checks before them.
public struct PusherHTTPAPIOptions: Sendable {
    /// A path prefix in front of the API's own path, for servers behind a proxy that removes it; nil for none. It is not signed.
    public var path: String?
    /// The limits that are checked before a request is made; ``ProtocolLimits/unchecked`` leaves the checks to a self-hosted
    /// server.
    public var limits: ProtocolLimits
    /// The master keys of encrypted channels. The first one encrypts; the others are older ones, for decryption.
    public var encryptionMasterKeys: [EncryptionMasterKey]
    /// The time that one attempt may take, from its beginning to the end of the response; at least a millisecond, at most a day.
    public var timeout: Duration
    /// The policy for retrying failed requests.
    public var retryPolicy: RetryPolicy
    /// The logger for what is published (`debug`), for what isn't (`warning`) and for requests that are retried (`notice`).
    public var logger: Logger

    /// Creates options. The defaults suit most services.
    public init(
        path: String? = nil, limits: ProtocolLimits = .serverLibraries, encryptionMasterKeys: [EncryptionMasterKey] = [],
        timeout: Duration = .seconds(15), retryPolicy: RetryPolicy = RetryPolicy(),
        logger: Logger = Logger(label: "pusher-channels")
    ) {
        self.path = path
        self.limits = limits
        self.encryptionMasterKeys = encryptionMasterKeys
        self.timeout = timeout
        self.retryPolicy = retryPolicy
        self.logger = logger
    }
}
