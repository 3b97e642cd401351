#if os(Linux)
import Foundation
import Glibc
import PusherChannels

/// A client that sees what a network does to it, byte for byte. Its calls block: see ``onThread(_:)``.
final class RawClient: Sendable {
    /// How a connection looks from here.
    enum End: Equatable {
        case finished, reset
        /// Nothing came for as long as was waited.
        case open
    }

    let descriptor: Int32

    /// Connects; throws the system's error.
    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            // Closed by `deinit`, which runs as soon as everything is initialised.
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    deinit {
        close(descriptor)
    }

    /// Whether all was taken by the system.
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

    /// The same on a thread of its own.
    func reads(_ limit: Int = .max) async throws -> (bytes: [UInt8], end: End) {
        try await onThread { self.read(limit) }
    }

    /// Reads so many bytes, or to the end, or until nothing came for a while.
    func read(_ limit: Int = .max, patience: Duration = .seconds(10)) -> (bytes: [UInt8], end: End) {
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

/// Runs what blocks on a thread of its own, so that it holds up nobody else's test.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        let thread = Thread { continuation.resume(with: Swift.Result { try body() }) }
        thread.start()
    }
}
#endif
