#if os(Linux)
import COpenSSL
import Foundation
import Glibc
import Processes
import PusherChannels
@testable import TestSupport

/// A server that a test scripts byte for byte, with its own port and a thread for each connection.
final class RawServer: Sendable {
    /// A failure on the server's side of a script.
    enum Trouble: Error {
        case system(String)
        case unexpectedEnd
    }

    /// The port for clients, with TLS if that was requested.
    let port: Int
    /// All ports between a client and its script: there are two with TLS.
    let ports: Set<Int>
    /// The heads of the requests that scripts read.
    let requests: Record<String>
    /// The proxy that terminates TLS, and has the authority that clients must trust.
    let tlsProxy: NetworkFaultProxy?
    private let listener: Int32
    /// Indicates whether the descriptor still belongs to the listener.
    private let isListening: Locked<Bool>

    /// Starts to accept connections. Each runs `script`, and is closed when that returns or throws.
    ///
    /// - Parameter tls: The TLS settings for clients. The script reads and writes the decrypted bytes, and its RST and FIN are
    ///   passed on to the clients.
    init(
        on address: Loopback = .ipv4, tls: ServerTLS? = nil, script: @escaping @Sendable (RawConnection) throws -> Void
    ) throws {
        let (listener, port) = try address.listener()
        self.listener = listener
        let (requests, isListening) = (Record<String>(), Locked(true))
        (self.requests, self.isListening) = (requests, isListening)
        do {
            tlsProxy = try tls.map { try NetworkFaultProxy.start(to: address.host, port: port, tls: $0) }
        } catch {
            Glibc.close(listener)
            throw error
        }
        let thread = Thread {
            while true {
                let descriptor = accept(listener, nil, nil)
                if descriptor < 0, errno == EINTR || errno == ECONNABORTED { continue }
                guard descriptor >= 0 else { break }
                let connection = RawConnection(descriptor: descriptor, requests: requests)
                let worker = Thread { try? script(connection) }
                worker.start()
            }
            isListening.withLock { isListening in
                isListening = false
                Glibc.close(listener)
            }
        }
        thread.start()
        self.port = tlsProxy?.port ?? port
        ports = [self.port, port]
    }

    deinit {
        isListening.withLock { if $0 { shutdown(listener, Int32(SHUT_RDWR)) } }
    }

    /// Returns a port on which nothing listens for as long as the descriptor is open.
    static func refusingPort() throws -> (port: Int, descriptor: Int32) { try HeldPort.take() }
}

/// The server's end of one connection. A read fails if nothing arrives for a very long time.
final class RawConnection: Sendable {
    let descriptor: Int32
    /// The bytes that were read beyond those requested.
    private let unread = Locked<[UInt8]>([])
    private let speed = Locked<Speed?>(nil)
    private let requests: Record<String>

    init(descriptor: Int32, requests: Record<String>) {
        self.descriptor = descriptor
        self.requests = requests
        var limit = timeval(tv_sec: Patience.seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Turns the close that follows into a reset: the peer's kernel reports "connection reset".
    func resetOnClose() {
        Sockets.resetOnClose(descriptor)
    }

    /// Turns the close that follows into a reset, once the peer's system has all sent bytes: a reset discards those still in
    /// transit.
    func resetOnceArrived() {
        Delivery.waitUntilArrived(from: descriptor)
        resetOnClose()
    }

    /// Reads the request's head, up to the empty line.
    func readRequest() throws -> String {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) { head += try read(1) }
        let request = String(decoding: head, as: UTF8.self)
        requests.append(request)
        return request
    }

    /// Reads the request's body, whose length its head gives.
    func readBody(of head: String) throws -> [UInt8] {
        let field = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
        return try read(field.flatMap { Int($0.dropFirst(16)) } ?? 0)
    }

    /// Reads the request and replies with 101, with `data` in the same segment.
    @discardableResult
    func upgrade(followedBy data: [UInt8] = []) throws -> String {
        let request = try readRequest()
        try send(Self.upgradeHead(for: request) + data)
        return request
    }

    /// Returns the head of the response that grants a request's upgrade.
    static func upgradeHead(for request: String) -> [UInt8] {
        Array(
            """
            HTTP/1.1 101 Switching Protocols\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Accept: \(accept(for: request))\r
            \r

            """.utf8)
    }

    func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                uninterrupted { Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
            }
            guard count > 0 else { throw RawServer.Trouble.system("send") }
            rest = rest.dropFirst(count)
        }
    }

    func send(_ frame: Frame) throws {
        try send(frame.bytes)
    }

    func readFrame() throws -> Frame {
        let head = try read(2)
        var length = Int(head[1] & 0x7F)
        if length >= 126 { length = try read(length == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) } }
        guard head[1] & 0x80 != 0 else { throw RawServer.Trouble.system("a client's frame must be masked") }
        let mask = try read(4)
        var payload = try read(length)
        Self.unmask(&payload, with: mask)
        return Frame(opcode: head[0] & 0x0F, isFinal: head[0] & 0x80 != 0, payload: payload)
    }

    /// From now on, reads at most `limit` bytes at a time, and calls `before` each time.
    func slowDown(to limit: Int, before: @escaping @Sendable () -> Void) {
        speed.withLock { $0 = Speed(limit: limit, before: before) }
    }

    private static func unmask(_ payload: inout [UInt8], with mask: [UInt8]) {
        let key = mask.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        payload.withUnsafeMutableBytes { bytes in
            // Unmasks four bytes at a time, because some tests send megabytes.
            let rest = bytes.count & ~3
            for place in stride(from: 0, to: rest, by: 4) {
                let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
                bytes.storeBytes(of: word ^ key, toByteOffset: place, as: UInt32.self)
            }
            for place in rest..<bytes.count { bytes[place] ^= mask[place & 3] }
        }
    }

    /// Returns the bytes of a single read.
    func readSome() throws -> [UInt8] { try receive() }

    /// Returns whether something can be read at once.
    func hasMore() throws -> Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    }

    /// Waits for the peer to end the connection, and returns the bytes that it sent.
    @discardableResult
    func readToEnd() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let piece = try receive()
            if piece.isEmpty { return bytes }
            bytes += piece
        }
    }

    /// Returns all remaining bytes, even if a reset ends them.
    func readRest() -> [UInt8] {
        var bytes = unread.withLock { unread in
            defer { unread = [] }
            return unread
        }
        while let piece = try? receive(), !piece.isEmpty { bytes += piece }
        return bytes
    }

    /// Sends FIN, and continues to read.
    func finish() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Sends until no bytes have been accepted for `seconds` seconds, and returns the number of bytes sent.
    func sendUntilBlocked(seconds: Int = 1) -> Int {
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let bytes = [UInt8](repeating: 0x55, count: 65_536)
        var sum = 0
        while true {
            let count = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { return sum }
            sum += count
        }
    }

    private func read(_ count: Int) throws -> [UInt8] {
        try unread.withLock { unread in
            while unread.count < count {
                let bytes = try receive()
                guard !bytes.isEmpty else { throw RawServer.Trouble.unexpectedEnd }
                unread += bytes
            }
            defer { unread.removeFirst(count) }
            return Array(unread.prefix(count))
        }
    }

    private func receive() throws -> [UInt8] {
        let speed = speed.withLock { $0 }
        speed?.before()
        return try [UInt8](unsafeUninitializedCapacity: speed?.limit ?? 65_536) { buffer, count in
            let received = uninterrupted { recv(descriptor, buffer.baseAddress, buffer.count, 0) }
            guard received >= 0 else { throw RawServer.Trouble.system("recv") }
            count = received
        }
    }

    private struct Speed {
        let limit: Int
        let before: @Sendable () -> Void
    }

    private static func accept(for request: String) -> String {
        let key =
            request.split(separator: "\r\n").first { $0.lowercased().hasPrefix("sec-websocket-key:") }?
            .split(separator: " ").last ?? ""
        let input = Array("\(key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        EVP_Digest(input, input.count, &digest, nil, EVP_sha1(), nil)
        return Data(digest).base64EncodedString()
    }
}

/// A WebSocket frame.
struct Frame: Equatable, Sendable {
    var opcode: UInt8
    var isFinal = true
    var payload: [UInt8]

    static func text(_ text: String) -> Frame { Frame(opcode: 1, payload: Array(text.utf8)) }
    static func binary(_ bytes: [UInt8]) -> Frame { Frame(opcode: 2, payload: bytes) }
    static func pong(_ text: String = "") -> Frame { Frame(opcode: 10, payload: Array(text.utf8)) }

    static func close(_ code: UInt16, _ reason: String = "") -> Frame {
        Frame(opcode: 8, payload: [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
    }

    var text: String { String(decoding: payload, as: UTF8.self) }

    /// The frame as a server sends it.
    var bytes: [UInt8] {
        let first = opcode | (isFinal ? 0x80 : 0)
        let count = payload.count
        switch count {
        case ..<126: return [first, UInt8(count)] + payload
        case ..<65_536: return [first, 126, UInt8(count >> 8), UInt8(count & 0xFF)] + payload
        default: return [first, 127] + (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) } + payload
        }
    }
}
#endif
