#if canImport(CLibwebsockets)
import CLibwebsockets

/// What libwebsockets calls for everything that happens, on the loop's thread.
///
/// The user data of a stream is its number: one that is gone names nobody, where a pointer would dangle. The result 0 means to
/// go on, -1 to close the socket. It is asked for many other reasons, some of which take -1 for an objection.
func libwebsocketsCallback(
    _ wsi: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?,
    _ input: UnsafeMutableRawPointer?, _ length: Int
) -> Int32 {
    guard let wsi, let data = lws_get_opaque_user_data(wsi), let pointer = lws_context_user(lws_get_context(wsi)) else {
        return 0
    }
    let service = Unmanaged<LibwebsocketsService>.fromOpaque(pointer).takeUnretainedValue()
    let stream = service.stream(UInt(bitPattern: data))
    switch reason {
    case LWS_CALLBACK_RAW_RX_FILE:
        stream?.readable()
        return stream == nil ? -1 : 0
    case LWS_CALLBACK_RAW_WRITEABLE_FILE:
        stream?.writable()
        return stream == nil ? -1 : 0
    case LWS_CALLBACK_RAW_CLOSE_FILE:
        stream?.lost()
        return 0
    default:
        return 0
    }
}
#endif
