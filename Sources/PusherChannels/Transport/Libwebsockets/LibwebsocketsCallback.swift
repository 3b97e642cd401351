#if canImport(CLibwebsockets)
import CLibwebsockets

/// What libwebsockets calls for everything that happens, on the service thread.
///
/// The user data of a wire is its number. The result 0 means to go on, -1 to end the wire; for some reasons it is ignored.
func libwebsocketsCallback(
    _ wsi: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?,
    _ input: UnsafeMutableRawPointer?, _ length: Int
) -> Int32 {
    guard let wsi, let pointer = lws_context_user(lws_get_context(wsi)) else { return 0 }
    let service = Unmanaged<LibwebsocketsService>.fromOpaque(pointer).takeUnretainedValue()
    if reason == LWS_CALLBACK_OPENSSL_LOAD_EXTRA_CLIENT_VERIFY_CERTS, let user {
        TLSDiagnosis.watch(OpaquePointer(user), for: service)
    }
    guard let data = lws_get_opaque_user_data(wsi) else { return 0 }
    // A wire that nobody listens to any more was cut and is about to be destroyed.
    guard let connection = service.connection(onWire: UInt(bitPattern: data)) else {
        service.tlsReason = nil
        return -1
    }

    switch reason {
    case LWS_CALLBACK_CLIENT_RECEIVE:
        return connection.received(UnsafeRawBufferPointer(start: input, count: length), on: wsi)
    case LWS_CALLBACK_CLIENT_WRITEABLE:
        return connection.writeable(on: wsi)
    case LWS_CALLBACK_CLIENT_RECEIVE_PONG:
        connection.receivedPong()
    case LWS_CALLBACK_WSI_CREATE:
        connection.advance(to: connection.request?.secure == true ? .securing : .upgrading, on: wsi)
    case LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION:
        // `user` is the verifier's context, `length` its verdict so far.
        if length == 0, let user { service.tlsReason = TLSDiagnosis.verificationError(OpaquePointer(user)) }
    case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
        connection.advance(to: .upgrading, on: wsi)
        return connection.request?.appendHeaders(to: wsi, at: input, capacity: length) == true ? 0 : -1
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
        connection.opened(on: wsi)
    case LWS_CALLBACK_TIMER:
        connection.timerFired()
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
        connection.peerClosed(UnsafeRawBufferPointer(start: input, count: length))
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
        // Some of the texts are counted with their terminator.
        let text = UnsafeRawBufferPointer(start: input, count: input == nil ? 0 : length).prefix { $0 != 0 }
        connection.wireEnded(saying: String(decoding: text, as: UTF8.self), status: Int(lws_http_client_http_response(wsi)))
    case LWS_CALLBACK_CLIENT_CLOSED, LWS_CALLBACK_CLOSED_CLIENT_HTTP, LWS_CALLBACK_WSI_DESTROY:
        connection.wireEnded(saying: nil)
    default:
        break
    }
    return 0
}

extension LibwebsocketsService {
    /// Has libwebsockets connect; `nil` if that failed at once, which callbacks may have told already, or not.
    func connect(_ request: UpgradeRequest, to address: String, wire: Wire) -> OpaquePointer? {
        guard let context, let host = virtualHost(secure: request.secure) else { return nil }
        var info = lws_client_connect_info()
        info.context = context
        info.vhost = host
        info.port = Int32(request.port)
        info.ssl_connection = Int32(LCCSCF_HTTP_NO_FOLLOW_REDIRECT.rawValue | (request.secure ? LCCSCF_USE_SSL.rawValue : 0))
        info.opaque_user_data = UnsafeMutableRawPointer(bitPattern: wire)
        info.retry_and_idle_policy = keepalive
        // Only the strings' addresses go into the structure; libwebsockets copies the strings.
        return address.withCString { address in
            request.path.withCString { path in
                request.hostHeader.withCString { hostHeader in
                    "pusher".withCString { name in
                        (request.subprotocols ?? "").withCString { subprotocols in
                            info.address = address
                            info.path = path
                            info.host = hostHeader
                            info.local_protocol_name = name
                            info.protocol = request.subprotocols == nil ? nil : subprotocols
                            return lws_client_connect_via_info(&info)
                        }
                    }
                }
            }
        }
    }
}

extension UpgradeRequest {
    /// Adds the headers to a request under construction; `cursor` points to libwebsockets' write position.
    fileprivate func appendHeaders(to wsi: OpaquePointer, at cursor: UnsafeMutableRawPointer?, capacity: Int) -> Bool {
        guard let position = cursor?.assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self), let start = position.pointee
        else {
            return false
        }
        return headers.allSatisfy { name, value in
            lws_add_http_header_by_name(wsi, name, value, Int32(value.utf8.count), position, start + capacity) == 0
        }
    }
}
#endif
