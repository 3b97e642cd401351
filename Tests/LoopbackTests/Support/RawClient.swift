#if os(Linux)
import Foundation
import Glibc
import PusherChannels
import TestSupport

/// A client that shows the effects of a network byte for byte. Its calls block; see ``onThread(_:)``.
final class RawClient: Sendable {
    /// The end of a connection, as seen by the client.
    enum End: Equatable {
        case finished, reset
        /// The connection is still open: nothing arrived in time, or the limit was reached.
        case open
    }

    let descriptor: Int32

    /// Connects; throws the system's error.
    init(port: Int, on address: Loopback = .ipv4) throws {
        descriptor = try address.connection(to: port)
    }

    deinit {
        close(descriptor)
    }

    /// Sends bytes; returns whether the system took all of them.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Sends FIN and goes on reading.
    func finish() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Reads at least `limit` bytes, and returns them in the pieces that each call brought. Ends early when nothing more arrives.
    func readPieces(_ limit: Int) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var sum = 0
        while sum < limit {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            sum += count
            pieces.append(Array(buffer[..<count]))
        }
        return pieces
    }

    /// Calls ``read(_:patience:)`` on a separate thread.
    func reads(_ limit: Int = .max) async throws -> (bytes: [UInt8], end: End) {
        try await onThread { self.read(limit) }
    }

    /// Reads `limit` bytes, or to the end, or until nothing has arrived for a while.
    func read(_ limit: Int = .max, patience: Duration = .seconds(Patience.seconds)) -> (bytes: [UInt8], end: End) {
        let (seconds, attoseconds) = patience.components
        var wait = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < limit {
            let count = recv(descriptor, &buffer, min(buffer.count, limit - bytes.count), 0)
            if count == 0 { return (bytes, .finished) }
            if count < 0 { return (bytes, errno == EAGAIN ? .open : .reset) }
            bytes += buffer[..<count]
        }
        return (bytes, .open)
    }
}

/// A fault proxy in front of a server that a test scripts.
final class ProxyRig: Sendable {
    let server: RawServer
    let proxy: NetworkFaultProxy

    init(
        _ faults: [Fault] = [], tls: ServerTLS? = nil, script: @escaping @Sendable (RawConnection) throws -> Void
    ) throws {
        server = try RawServer(script: script)
        proxy = try NetworkFaultProxy.start(to: "127.0.0.1", port: server.port, faults: faults, tls: tls)
    }

    func client() throws -> RawClient { try RawClient(port: proxy.port) }
}

/// Runs blocking code on a separate thread, so that it doesn't hold up other tests.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        let thread = Thread { continuation.resume(with: Swift.Result { try body() }) }
        thread.start()
    }
}
#endif
