#if canImport(CLibwebsockets)
import CLibwebsockets
import Glibc

/// Makes the libwebsockets context and its virtual hosts, all of which live as long as the process.
final class LibwebsocketsContext {
    /// For each stage of a handshake, in seconds. Ours expires first and knows what it waited for; libwebsockets' own is the
    /// second line: it ends some waits without saying why.
    static let handshakeTimeout: Int64 = 20
    private static let backstopTimeout: UInt32 = 30

    /// Also what one read brings at most: the more messages in a turn, the fewer delegate calls.
    private static let readSize = 65_536

    private(set) var context: OpaquePointer?
    private var plain: OpaquePointer?
    private var secure: OpaquePointer?
    // libwebsockets keeps the addresses of what it is given.
    private let protocols = UnsafeMutablePointer<lws_protocols>.allocate(capacity: 2)
    private let protocolName = strdup("pusher")
    private let plainName = strdup("plain")
    private let secureName = strdup("secure")
    /// Without thresholds: the SDK has a heartbeat of its own, while libwebsockets' would ping after 300 s and hang up after
    /// 310, also on a connection that doesn't read because it was told not to.
    private let noKeepalive = UnsafeMutablePointer<lws_retry_bo>.allocate(capacity: 1)

    init() {
        protocols.initialize(repeating: lws_protocols(), count: 2)
        protocols[0].name = UnsafePointer(protocolName)
        protocols[0].callback = libwebsocketsCallback
        protocols[0].rx_buffer_size = Self.readSize
        noKeepalive.initialize(to: lws_retry_bo())
    }

    func create(for service: LibwebsocketsService) {
        // What libwebsockets has to say reaches the delegate as failures; a library doesn't write to standard error.
        lws_set_log_level(0, nil)
        // A peer that is gone must show as an error of the write, on this thread only: libwebsockets ignores the signal for the
        // whole process, which would keep `program | head` running forever.
        var pipeSignal = sigset_t()
        sigemptyset(&pipeSignal)
        sigaddset(&pipeSignal, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipeSignal, nil)
        var disposition = sigaction()
        sigaction(SIGPIPE, nil, &disposition)
        defer { sigaction(SIGPIPE, &disposition, nil) }

        var info = creationInfo()
        info.options |= UInt64(LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT)
        info.user = Unmanaged.passUnretained(service).toOpaque()
        info.pt_serv_buf_size = UInt32(Self.readSize)
        info.timeout_secs = Self.backstopTimeout
        info.max_http_header_data2 = 16_384
        // It sizes its tables by the limit of descriptors, which some containers set to a thousand million.
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur > 1 << 20 {
            info.fd_limit_per_thread = 1 << 16
        }
        context = lws_create_context(&info)
        guard let context else { return }
        info.vhost_name = UnsafePointer(plainName)
        info.options = 0
        plain = lws_create_vhost(context, &info)
    }

    /// The virtual host for `ws` or `wss`. The one for `wss` is made on first use: reading the system's certificates takes 40 ms
    /// and more, and a process that uses no TLS needn't.
    func virtualHost(secure isSecure: Bool) -> OpaquePointer? {
        guard isSecure else { return plain }
        if secure == nil, let context {
            var info = creationInfo()
            info.vhost_name = UnsafePointer(secureName)
            info.options = UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT)
            secure = lws_create_vhost(context, &info)
        }
        return secure
    }

    /// The keepalive policy of all connections.
    var keepalive: UnsafePointer<lws_retry_bo> { UnsafePointer(noKeepalive) }

    private func creationInfo() -> lws_context_creation_info {
        var info = lws_context_creation_info()
        info.port = CONTEXT_PORT_NO_LISTEN
        info.protocols = UnsafePointer(protocols)
        info.connect_timeout_secs = Self.backstopTimeout
        info.retry_and_idle_policy = UnsafePointer(noKeepalive)
        return info
    }
}
#endif
