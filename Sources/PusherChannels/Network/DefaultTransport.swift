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

extension PusherEnvironment {
    /// Creates an environment; parts that are left out are live.
    public init(
        scheduler: any Scheduler = LiveScheduler(),
        httpSession: any HTTPSession = DefaultTransport.httpSession,
        makeWebSocket: @escaping @Sendable () -> any WebSocket = DefaultTransport.makeWebSocket,
        wallClock: @escaping @Sendable () -> Date = { Date() },
        randomSeed: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) },
        jsonDecoder: (@Sendable () -> JSONDecoder)? = nil,
        jsonEncoder: @escaping @Sendable () -> JSONEncoder = { JSONEncoder() },
        spawn: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never> = { body in Task { await body() } }
    ) {
        self.init(of: scheduler, httpSession, makeWebSocket, wallClock, randomSeed, jsonDecoder, jsonEncoder, spawn)
    }

    /// The live environment.
    public static let live = PusherEnvironment()
}
