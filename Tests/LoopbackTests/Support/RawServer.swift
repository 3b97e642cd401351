#if os(Linux)
import COpenSSL
import Foundation
import Glibc
import PusherChannels

/// A server that does what a test tells it to, byte for byte: 127.0.0.1, a port of its own, a thread for each connection.
final class RawServer: Sendable {
    /// What went wrong on the server's side of a script.
    enum Trouble: Error {
        case system(String)
        case unexpectedEnd
    }

    let port: Int
    private let listener: Int32

    /// Starts to accept; each connection gets `script`, and is closed when that returns or throws.
    init(script: @escaping @Sendable (RawConnection) throws -> Void) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw Trouble.system("socket") }
        self.listener = listener
        port = try Self.bind(listener)
        guard listen(listener, 256) == 0 else { throw Trouble.system("listen") }
        let thread = Thread {
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { break }
                let connection = RawConnection(descriptor: descriptor)
                let worker = Thread { try? script(connection) }
                worker.start()
            }
            Glibc.close(listener)
        }
        thread.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// A port on which nothing listens: bound, so that nobody else gets it, for as long as the descriptor is open.
    static func refusingPort() throws -> (port: Int, descriptor: Int32) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Trouble.system("socket") }
        return (try bind(descriptor), descriptor)
    }

    private static func bind(_ descriptor: Int32) throws -> Int {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                Glibc.bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard bound else { throw Trouble.system("bind") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}

/// The server's end of one connection. A read that brings nothing for ten seconds fails.
final class RawConnection: Sendable {
    private let descriptor: Int32
    /// What was read beyond what was asked for.
    private let unread = Locked<[UInt8]>([])

    init(descriptor: Int32) {
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Makes the close that follows a reset: the peer's kernel answers with "connection reset".
    func resetOnClose() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }

    /// The request's head, up to the empty line.
    func readRequest() throws -> String {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            head += try read(1)
        }
        return String(decoding: head, as: UTF8.self)
    }

    /// Reads the request and answers 101, with `data` in the same segment.
    @discardableResult
    func upgrade(followedBy data: [UInt8] = []) throws -> String {
        let request = try readRequest()
        let accept = Self.accept(for: request)
        try send(
            Array(
                """
                HTTP/1.1 101 Switching Protocols\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Accept: \(accept)\r
                \r

                """.utf8) + data)
        return request
    }

    func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
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
        if length >= 126 {
            length = try read(length == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) }
        }
        guard head[1] & 0x80 != 0 else { throw RawServer.Trouble.system("a client's frame must be masked") }
        let mask = try read(4)
        var payload = try read(length)
        for index in payload.indices { payload[index] ^= mask[index & 3] }
        return Frame(opcode: head[0] & 0x0F, isFinal: head[0] & 0x80 != 0, payload: payload)
    }

    /// Waits for the peer to end the connection, and gives back what it sent.
    @discardableResult
    func readToEnd() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let piece = try receive()
            if piece.isEmpty { return bytes }
            bytes += piece
        }
    }

    /// Says that no more comes (FIN), and goes on reading.
    func finish() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Sends for as long as bytes are taken, none for so many seconds being the end; how many there were.
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
        try [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            let received = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            guard received >= 0 else { throw RawServer.Trouble.system("recv") }
            count = received
        }
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
