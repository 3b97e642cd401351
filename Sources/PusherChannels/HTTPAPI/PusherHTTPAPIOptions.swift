/// How requests to the HTTP API are made, and what is checked before.
public struct PusherHTTPAPIOptions: Sendable {
    /// A path in front of the API's own, for servers behind a proxy that takes it away again; nil for none. It is not signed.
    public var path: String?
    /// What is checked before a request is made; ``ProtocolLimits/unchecked`` leaves that to a self-hosted server.
    public var limits: ProtocolLimits
    /// The keys of encrypted channels. The first one seals; those behind it are older ones, that what was sealed with them can be read.
    public var encryptionMasterKeys: [EncryptionMasterKey]
    /// How long one attempt may take, from its beginning to the end of the response; a millisecond at least, a day at most.
    public var timeout: Duration
    /// How often a request is made again.
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
