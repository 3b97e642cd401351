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

    /// Creates options. The defaults suit most services.
    public init(
        path: String? = nil, limits: ProtocolLimits = .serverLibraries, encryptionMasterKeys: [EncryptionMasterKey] = [],
        timeout: Duration = .seconds(15), retryPolicy: RetryPolicy = RetryPolicy()
    ) {
        self.path = path
        self.limits = limits
        self.encryptionMasterKeys = encryptionMasterKeys
        self.timeout = timeout
        self.retryPolicy = retryPolicy
    }
}
