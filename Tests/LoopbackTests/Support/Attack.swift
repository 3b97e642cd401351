#if os(Linux)
import Foundation
import Processes
import PusherChannels
import TestSupport

/// Something that a program or a web page sends to a local server, in any size, to keep it busy.
struct Attack: CustomStringConvertible, Sendable {
    let name: String
    /// The size at which it is tried first, and then at four times that.
    let size: Int
    /// Returns the response to a request, or the messages on a WebSocket, as text.
    let run: @Sendable (_ size: Int, _ port: Int) throws -> String
    var description: String { name }

    /// Sends a request, and returns the response.
    static func request(
        _ name: String, size: Int = 50_000, _ method: String = "POST", _ path: String = "/pusher/auth",
        fields: @escaping @Sendable (Int) -> String = { _ in "" }, body: @escaping @Sendable (Int) -> String = { _ in "" }
    ) -> Attack {
        Attack(name: name, size: size) { size, port in
            let body = body(size)
            let path = path.replacing("SIZE", with: marks(path.contains("SIZE") ? size : 0))
            return try exchange(
                "\(method) \(path) HTTP/1.1\r\n\(fields(size))Content-Length: \(body.utf8.count)\r\n\r\n\(body)", port)
        }
    }

    /// Sends a signed call of the HTTP API, and returns the response.
    static func call(_ name: String, query: String = "", body: @escaping @Sendable (Int) -> String) -> Attack {
        Attack(name: name, size: 50_000) { size, port in
            let (path, body) = ("/apps/1/events", body(size))
            var query = [
                "auth_key": "local-key", "auth_version": "1.0", "auth_timestamp": "\(Int(Date().timeIntervalSince1970))",
                "body_md5": md5(body.utf8),
            ]
            query["auth_signature"] = Signature.request(method: "POST", path: path, query: query, secret: "local-secret")
            let fields = query.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
            return try exchange("POST \(path)?\(fields) HTTP/1.1\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)", port)
        }
    }

    /// Sends messages on a WebSocket, and returns everything up to the reply to a ping. `SOCKET` in a message is the socket id.
    static func messages(_ name: String, _ messages: @escaping @Sendable (_ size: Int, _ socketID: String) -> [String]) -> Attack
    {
        Attack(name: name, size: 100_000) { size, port in
            let client = try RawClient(port: port)
            client.send(upgrade())
            var text = ""
            func read(to end: String) {
                while !text.contains(end), case let bytes = client.readPieces(1).joined(), !bytes.isEmpty {
                    text += String(decoding: Array(bytes), as: UTF8.self)
                }
            }
            read(to: #"socket_id\":\""#)
            read(to: #"\"}"}"#)
            let socketID = text.firstMatch(of: #/[0-9]+\.[0-9]+/#).map { String($0.0) } ?? ""
            for message in messages(size, socketID) + [#"{"event":"pusher:ping"}"#] { client.send(frame(message)) }
            read(to: "pusher:pong")
            return text
        }
    }

    /// Combining marks of this many bytes, in an order in which Unicode doesn't leave them.
    static func marks(_ bytes: Int) -> String { "a" + String(repeating: "\u{301}\u{316}", count: bytes / 4) }

    static func exchange(_ request: String, _ port: Int) throws -> String {
        let client = try RawClient(port: port)
        let host = request.contains("\r\nHost:") ? "" : "Host: 127.0.0.1:\(port)\r\n"
        let head = request.range(of: "\r\n")?.upperBound ?? request.endIndex
        client.send(Array((request[..<head] + host + "Connection: close\r\n" + request[head...]).utf8))
        return String(decoding: client.read().bytes, as: UTF8.self)
    }

    static func upgrade(_ fields: String = "Host: 127.0.0.1\r\n", path: String = "/app/local-key?protocol=7") -> [UInt8] {
        Array(
            """
            GET \(path) HTTP/1.1\r\n\(fields)Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n
            """.utf8)
    }

    /// Returns a client's frame.
    private static func frame(_ text: String) -> [UInt8] {
        let length = text.utf8.count
        return [0x81, 0xFF] + (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) } + [0, 0, 0, 0] + text.utf8
    }
}
#endif
