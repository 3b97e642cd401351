#if canImport(CLibwebsockets)
import CLibwebsockets
import Glibc

/// A libwebsockets context, which waits for the thread that made it.
final class LibwebsocketsContext {
    /// Nil if libwebsockets couldn't make one.
    let context: OpaquePointer?
    // libwebsockets keeps the addresses of what it is given.
    private let protocols = UnsafeMutablePointer<lws_protocols>.allocate(capacity: 2)
    private let name = strdup("pusher")

    /// Creates a context that tells a loop when a descriptor can be read, and owns that.
    init(for loop: EventLoop, watching descriptor: Int32) {
        protocols.initialize(repeating: lws_protocols(), count: 2)
        protocols[0].name = UnsafePointer(name)
        // Called for everything that happens, on the loop's thread; one thing matters here.
        protocols[0].callback = { wsi, reason, _, _, _ in
            guard reason == LWS_CALLBACK_RAW_RX_FILE, let wsi, let pointer = lws_context_user(lws_get_context(wsi)) else {
                return 0
            }
            Unmanaged<EventLoop>.fromOpaque(pointer).takeUnretainedValue().serveSockets()
            return 0
        }
        // What there is to say reaches delegates as failures; a library doesn't write to standard error. Before the first context, which talks too.
        lws_set_log_level(0, nil)
        var info = lws_context_creation_info()
        info.port = CONTEXT_PORT_NO_LISTEN
        info.options = UInt64(LWS_SERVER_OPTION_EXPLICIT_VHOSTS)
        info.protocols = UnsafePointer(protocols)
        info.vhost_name = UnsafePointer(name)
        info.user = Unmanaged.passUnretained(loop).toOpaque()
        // This one and its own; otherwise as many as the process may open, which some containers set to a thousand million.
        info.fd_limit_per_thread = 8
        context = Self.ofTheProcess.withLock { [name] disposition in
            guard let context = Self.create(info, &disposition) else { return nil }
            guard let virtualHost = lws_create_vhost(context, &info), clws_adopt(virtualHost, descriptor, name) != nil else {
                lws_context_destroy(context)
                return nil
            }
            return context
        }
        if context == nil { close(descriptor) }
    }

    /// On the thread that made it.
    deinit {
        if let context { Self.ofTheProcess.withLock { _ in lws_context_destroy(context) } }
        protocols.deallocate()
        free(name)
    }

    /// The state that a process has once, and that libwebsockets changes when contexts are made and ended: the disposition of SIGPIPE,
    /// which is kept here as it was before, and since 4.3 a count of those who log. It changes these without a lock, and ends the process
    /// if it finds the count wrong; so one context at a time.
    private static let ofTheProcess = Locked(sigaction())

    /// Makes a context. libwebsockets ignores SIGPIPE for the whole process when it does, which would keep `program | head`
    /// running forever.
    private static func create(_ info: lws_context_creation_info, _ disposition: inout sigaction) -> OpaquePointer? {
        var info = info
        sigaction(SIGPIPE, nil, &disposition)
        defer {
            // What the program has set meanwhile stays.
            var present = sigaction()
            sigaction(SIGPIPE, nil, &present)
            if present.isIgnoring { sigaction(SIGPIPE, &disposition, nil) }
        }
        return lws_create_context(&info)
    }
}

extension sigaction {
    fileprivate var isIgnoring: Bool {
        unsafeBitCast(__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
#endif
