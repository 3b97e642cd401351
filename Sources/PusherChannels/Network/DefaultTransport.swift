import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The socket and the HTTP session that fit the platform.
public enum DefaultTransport {
    /// Makes a socket: with libwebsockets on Linux, with `URLSessionWebSocketTask` on Apple platforms.
    @Sendable public static func makeWebSocket() -> any WebSocket {
        #if os(Linux)
        NetworkWebSocket()
        #else
        URLSessionWebSocket()
        #endif
    }

    /// Makes HTTP requests: with libwebsockets on Linux, where a client's ``PusherClientOptions/tls`` and
    /// ``PusherClientOptions/proxy`` apply to them, too; with `URLSession.shared` on Apple platforms. All clients share its
    /// connections.
    public static let httpSession: any HTTPSession = {
        #if os(Linux)
        NetworkHTTPSession()
        #else
        URLSession.shared
        #endif
    }()
}
