#if canImport(CLibwebsockets)
import CLibwebsockets
import Glibc

/// A libwebsockets context, in which the thread that made it waits.
final class LibwebsocketsContext {
    /// The context; nil if libwebsockets couldn't make one.
    let context: OpaquePointer?
    // libwebsockets keeps the addresses of these.
    // not a mutant: the second one ends the list, and more of them do no harm
    private let protocols = UnsafeMutablePointer<lws_protocols>.allocate(capacity: 2)
    private let name = strdup("pusher")
    private let noProxy = strdup("")

    /// Creates a context that tells a loop when a descriptor can be read, and owns that descriptor.
    init(for loop: EventLoop, watching descriptor: Int32) {
        protocols.initialize(repeating: lws_protocols(), count: 2)
        protocols[0].name = UnsafePointer(name)
        // Called for every event, on the loop's thread; only one matters here.
        protocols[0].callback = { wsi, reason, _, _, _ in
            guard reason == LWS_CALLBACK_RAW_RX_FILE, let wsi, let pointer = lws_context_user(lws_get_context(wsi)) else {
                return 0
            }
            Unmanaged<EventLoop>.fromOpaque(pointer).takeUnretainedValue().serveSockets()
            return 0
        }
        // Problems reach delegates as failures; a library doesn't write to standard error. Set before the first context is made,
        // which logs too.
        lws_set_log_level(0, nil)
        var info = lws_context_creation_info()
        info.port = CONTEXT_PORT_NO_LISTEN
        info.options = UInt64(LWS_SERVER_OPTION_EXPLICIT_VHOSTS)
        info.protocols = UnsafePointer(protocols)
        info.vhost_name = UnsafePointer(name)
        // Without a text, it would look into the environment, which another thread of the program may be changing.
        info.http_proxy_address = UnsafePointer(noProxy)
        info.user = Unmanaged.passUnretained(loop).toOpaque()
        // For this descriptor and libwebsockets' own. The default is as many as the process may open, which some containers set
        // to a billion.
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

    /// Must run on the thread that made the context.
    deinit {
        if let context { Self.ofTheProcess.withLock { _ in lws_context_destroy(context) } }
        protocols.deallocate()
        free(name)
        free(noProxy)
    }

    /// The state of the process that libwebsockets changes when contexts are made and destroyed: the disposition of SIGPIPE,
    /// whose earlier value is kept here, and since 4.3 a count of its log's users. It changes these without a lock, and ends the
    /// process if it finds the count wrong, so this lock allows only one context at a time to be made or destroyed.
    static let ofTheProcess = Locked(sigaction())

    /// Makes a context. libwebsockets then ignores SIGPIPE for the whole process, which would keep `program | head` running
    /// forever.
    private static func create(_ info: lws_context_creation_info, _ disposition: inout sigaction) -> OpaquePointer? {
        var info = info
        return RouteMonitors.removed {
            // Read at the last moment: if the program begins to ignore the signal meanwhile, nobody can tell who did.
            sigaction(SIGPIPE, nil, &disposition)
            defer {
                // Any other disposition that the program has set meanwhile stays.
                var present = sigaction()
                sigaction(SIGPIPE, nil, &present)
                if present.isIgnoring { sigaction(SIGPIPE, &disposition, nil) }
            }
            return lws_create_context(&info)
        }
    }
}

extension sigaction {
    fileprivate var isIgnoring: Bool {
        unsafeBitCast(__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
#endif
