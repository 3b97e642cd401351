import Dispatch
import Foundation
import Processes

@testable import TestSupport

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A WebSocket client on bare POSIX sockets that can do what no proper client does.
///
/// Its blocking calls run on their own queue. A receive time-out keeps a failed test from hanging.
final class RawWebSocket: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    enum Message: Equatable, Sendable {
        case text(String)
        case ping(String)
        case pong(String)
        case close(UInt16, String)
        /// The end of the stream, or a reset.
        case end
    }

    private let file: Int32
    private let queue = DispatchQueue(label: "raw web socket")
    private let isClosed = Locked(false)

    /// Connects, and requests an upgrade unless `path` is `nil`.
    init(
        host: String = "127.0.0.1", port: Int, path: String? = "/app/local-key?protocol=7&client=raw&version=1.0"
    ) async throws {
        file = try Self.connect(host: host, port: port)
        guard let path else { return }
        try await write(
            Data(
                """
                GET \(path) HTTP/1.1\r
                Host: 127.0.0.1:\(port)\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                Sec-WebSocket-Version: 13\r
                \r\n
                """.utf8))
        let response = try await readHead()
        guard response.contains(" 101 "), response.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") else {
            throw Failure(description: "not upgraded: \(response)")
        }
    }

    deinit {
        close()
    }

    private static func connect(host: String, port: Int) throws -> Int32 {
        let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var timeout = timeval(tv_sec: Patience.seconds, tv_usec: 0)
        setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let address = SocketAddress(ip4: host, port: UInt16(port))
        guard address?.withPointer({ Glibc.connect(file, $0, $1) }) == 0 else {
            Glibc.close(file)
            throw Failure(description: "connect: \(String(cString: strerror(errno)))")
        }
        return file
    }

    // MARK: Closing

    /// Sends a FIN, and can still receive.
    func finish() {
        shutdown(file, Int32(SHUT_WR))
    }

    /// Closes the connection with a RST.
    func reset() {
        Sockets.resetOnClose(file)
        close()
    }

    func close() {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        if isFirst { Glibc.close(file) }
    }

    /// Reads to the end, and returns whether the end is a FIN and not a reset.
    func endsWithFIN() async throws -> Bool {
        try await run { file in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let read = uninterrupted { recv(file, &buffer, buffer.count, 0) }
                if read == 0 { return true }
                if read < 0, errno == ECONNRESET { return false }
                guard read > 0 else { throw Failure(description: "recv: \(String(cString: strerror(errno)))") }
            }
        }
    }

    // MARK: Frames

    func send(_ text: String) async throws {
        try await send(opcode: 1, Data(text.utf8))
    }

    func send(opcode: UInt8, _ payload: Data, isFinal: Bool = true) async throws {
        let first = (isFinal ? 0x80 : 0) | opcode
        try await write(Data(OutgoingFrame(first: first, payload, mask: [0x12, 0x34, 0x56, 0x78]).bytes))
    }

    func receive() async throws -> Message {
        guard let head = try await read(2) else { return .end }
        var length = Int(head[1] & 0x7F)
        if length == 126, let more = try await read(2) { length = Int(more[0]) << 8 | Int(more[1]) }
        if length == 127, let more = try await read(8) { length = more.reduce(0) { $0 << 8 | Int($1) } }
        guard let payload = try await read(length) else { return .end }
        let text = String(decoding: payload, as: UTF8.self)
        switch head[0] & 0x0F {
        case 1: return .text(text)
        case 8 where payload.count >= 2:
            return .close(UInt16(payload[0]) << 8 | UInt16(payload[1]), String(decoding: payload.dropFirst(2), as: UTF8.self))
        case 9: return .ping(text)
        case 10: return .pong(text)
        default: throw Failure(description: "unexpected frame \(head[0])")
        }
    }

    // MARK: Bytes

    func write(_ data: Data) async throws {
        try await run { file in
            var rest = data[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { bytes in
                    uninterrupted { Glibc.send(file, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
                }
                guard count > 0 else { throw Failure(description: "send: \(String(cString: strerror(errno)))") }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Reads exactly `count` bytes. Returns `nil` if the stream ends or is reset.
    private func read(_ count: Int) async throws -> [UInt8]? {
        try await run { file in
            var bytes: [UInt8] = []
            while bytes.count < count {
                var buffer = [UInt8](repeating: 0, count: min(count - bytes.count, 65_536))
                let read = uninterrupted { recv(file, &buffer, buffer.count, 0) }
                if read == 0 || (read < 0 && errno == ECONNRESET) { return nil }
                guard read > 0 else { throw Failure(description: "recv: \(String(cString: strerror(errno)))") }
                bytes += buffer.prefix(read)
            }
            return bytes
        }
    }

    /// Reads the response to a plain request: its status, and a body of the length that its head states.
    func readResponse() async throws -> (status: Int, body: String) {
        let head = try await readHead()
        let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        let length = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
        guard let status, let length, let body = try await read(length) else {
            throw Failure(description: "no response: \(head)")
        }
        return (status, String(decoding: body, as: UTF8.self))
    }

    private func readHead() async throws -> String {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard let byte = try await read(1) else { break }
            head += byte
        }
        return String(decoding: head, as: UTF8.self)
    }

    private func run<Result: Sendable>(_ body: @escaping @Sendable (Int32) throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [file] in continuation.resume(with: Swift.Result { try body(file) }) }
        }
    }
}
