/// The socket that fits the platform.
public enum DefaultTransport {
    /// Makes a socket: libwebsockets on Linux, `URLSessionWebSocketTask` on Apple platforms.
    @Sendable public static func makeWebSocket() -> any WebSocket {
        #if canImport(CLibwebsockets)
        LibwebsocketsSocket()
        #else
        URLSessionWebSocket()
        #endif
    }
}
