#if canImport(CLibwebsockets)
import CLibwebsockets
import Glibc

/// A libwebsockets context, which watches sockets for the thread that made it.
final class LibwebsocketsContext {
    /// Nil if libwebsockets couldn't make one.
    let context: OpaquePointer?
    private let virtualHost: OpaquePointer?
    /// Descriptors below this number have a place in libwebsockets' tables.
    private let capacity: Int32
    // libwebsockets keeps the addresses of what it is given.
    private let protocols = UnsafeMutablePointer<lws_protocols>.allocate(capacity: 2)
    private let name = strdup("pusher")

    init(for service: LibwebsocketsService) {
        protocols.initialize(repeating: lws_protocols(), count: 2)
        protocols[0].name = UnsafePointer(name)
        protocols[0].callback = libwebsocketsCallback
        Self.quieten()
        var info = lws_context_creation_info()
        info.port = CONTEXT_PORT_NO_LISTEN
        info.options = UInt64(LWS_SERVER_OPTION_EXPLICIT_VHOSTS)
        info.protocols = UnsafePointer(protocols)
        info.vhost_name = UnsafePointer(name)
        info.user = Unmanaged.passUnretained(service).toOpaque()
        // It sizes its tables by the limit of descriptors, which some containers set to a thousand million.
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        if limit.rlim_cur > 1 << 20 {
            info.fd_limit_per_thread = 1 << 16
            capacity = 1 << 16
        } else {
            capacity = Int32(limit.rlim_cur)
        }
        context = Self.create(info)
        virtualHost = context.flatMap { lws_create_vhost($0, &info) }
    }

    /// Closes all that is watched still. On the thread that made it.
    deinit {
        if let context { lws_context_destroy(context) }
        protocols.deallocate()
        free(name)
    }

    /// Has libwebsockets watch a socket, and own it; nil if it can't.
    ///
    /// One that its tables have no place for is not even shown: what libwebsockets fails to take over it closes with the context,
    /// and the number may be somebody else's by then.
    func watch(_ descriptor: Int32, as number: StreamNumber) -> OpaquePointer? {
        guard descriptor < capacity, let virtualHost, let wsi = clws_adopt(virtualHost, descriptor, name) else { return nil }
        lws_set_opaque_user_data(wsi, UnsafeMutableRawPointer(bitPattern: number))
        return wsi
    }

    private static let creation = Locked(())

    /// Makes a context. libwebsockets ignores SIGPIPE for the whole process when it does, which would keep `program | head`
    /// running forever; one at a time, lest another takes that for what it was before.
    private static func create(_ info: lws_context_creation_info) -> OpaquePointer? {
        var info = info
        return creation.withLock { _ in
            var disposition = sigaction()
            sigaction(SIGPIPE, nil, &disposition)
            defer { sigaction(SIGPIPE, &disposition, nil) }
            return lws_create_context(&info)
        }
    }

    /// Before the first context, which talks too.
    private static func quieten() {
        // What there is to say reaches delegates as failures; a library doesn't write to standard error.
        lws_set_log_level(0, nil)
        // A peer that is gone must show as an error of the write: OpenSSL writes without asking for that.
        var pipeSignal = sigset_t()
        sigemptyset(&pipeSignal)
        sigaddset(&pipeSignal, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipeSignal, nil)
    }
}
#endif
