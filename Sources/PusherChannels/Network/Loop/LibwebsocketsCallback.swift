#if canImport(CLibwebsockets)
import CLibwebsockets

/// What libwebsockets calls for everything that happens, on the loop's thread; one thing matters here.
func libwebsocketsCallback(
    _ wsi: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?,
    _ input: UnsafeMutableRawPointer?, _ length: Int
) -> Int32 {
    guard reason == LWS_CALLBACK_RAW_RX_FILE, let wsi, let pointer = lws_context_user(lws_get_context(wsi)) else { return 0 }
    Unmanaged<EventLoop>.fromOpaque(pointer).takeUnretainedValue().serveSockets()
    return 0
}
#endif
