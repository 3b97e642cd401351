import COpenSSL
import Foundation
import Glibc
import PusherChannels

/// A server that accepts every upgrade and then sends one endless message in fragments, for as long as the peer reads it.
final class EndlessServer: Sendable {
    let port: Int
    private let listener: Int32

    init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { [listener] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else { throw Trouble("no server: \(String(cString: strerror(errno)))") }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread { [listener] in
            while case let connection = Glibc.accept(listener, nil, nil), connection >= 0 {
                Thread { Self.serve(connection) }.start()
            }
        }.start()
    }

    /// Accepts no more connections; existing ones end when the peer closes them.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private static func serve(_ connection: Int32) {
        defer { close(connection) }
        guard let key = upgradeKey(from: connection) else { return }
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        guard send([UInt8]("\(head)Sec-WebSocket-Accept: \(accept(of: key))\r\n\r\n".utf8), to: connection) else { return }
        // An unfinished text frame, and then its continuation frames: 65,536 bytes each.
        let length: [UInt8] = [127, 0, 0, 0, 0, 0, 1, 0, 0]
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 16)
        var opcode: UInt8 = 1
        while send([opcode] + length + text, to: connection) { opcode = 0 }
    }

    private static func upgradeKey(from connection: Int32) -> String? {
        var head = ""
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !head.contains("\r\n\r\n") {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            head += String(decoding: buffer[..<count], as: UTF8.self)
        }
        let field = head.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix("sec-websocket-key:") }
        return field.map { $0.dropFirst("sec-websocket-key:".count).trimmingCharacters(in: .whitespaces) }
    }

    /// RFC 6455, 4.2.2.
    private static func accept(of key: String) -> String {
        let text = [UInt8]((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: Int(SHA_DIGEST_LENGTH))
        SHA1(text, text.count, &digest)
        return Data(digest).base64EncodedString()
    }

    private static func send(_ bytes: [UInt8], to connection: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
