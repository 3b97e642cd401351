/// The settings of requests to the HTTP API, and of the checks before them.
public struct PusherHTTPAPIOptions: Sendable {
    /// A path in front of the API's own, for servers behind a proxy that takes it away again; nil for none. It is not signed.
    public var path: String?
    /// The limits that are checked before a request is made; ``ProtocolLimits/unchecked`` leaves that to a self-hosted server.
    public var limits: ProtocolLimits
    /// The keys of encrypted channels. The first one encrypts; those behind it are older ones, for decryption.
    public var encryptionMasterKeys: [EncryptionMasterKey]
    /// The time that one attempt may take, from its beginning to the end of the response; a millisecond at least, a day at most.
    public var timeout: Duration
    /// The attempts that failed requests have, and the delays between them.
    public var retryPolicy: RetryPolicy

    /// Creates options; what is left out is what most services want.
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
