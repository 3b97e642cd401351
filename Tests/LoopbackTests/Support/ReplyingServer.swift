#if os(Linux)
import TestSupport

extension RawServer {
    /// The beginning of a reply to a request.
    enum Head: Sendable {
        /// A 101 with the key that matches the request.
        case upgrade
        /// These bytes, or none.
        case bytes([UInt8])

        static func text(_ text: String) -> Head { .bytes(Array(text.utf8)) }
    }

    /// The server's behavior after its reply. It continues to read in every case but the last.
    enum Ending: Sendable {
        /// Sends nothing more, until the client is gone.
        case silence
        /// Sends FIN.
        case finish
        /// Resets the connection once the reply has arrived.
        case reset
    }

    /// Returns a server that reads each client's request and sends the same reply to all of them.
    ///
    /// - Parameters:
    ///   - data: The bytes after the head.
    ///   - received: The record that gets the bytes that each client sent after its request, once the client is gone.
    static func replying(
        _ head: Head = .upgrade, followedBy data: [UInt8] = [], then ending: Ending = .silence,
        on address: Loopback = .ipv4, tls: ServerTLS? = nil, received: Record<[UInt8]>? = nil
    ) throws -> RawServer {
        try RawServer(on: address, tls: tls) { connection in
            let request = try connection.readRequest()
            let first =
                switch head {
                case .upgrade: RawConnection.upgradeHead(for: request)
                case .bytes(let bytes): bytes
                }
            try connection.send(first + data)
            switch ending {
            case .silence: break
            case .finish: connection.finish()
            case .reset:
                connection.resetOnceArrived()
                return
            }
            let rest = connection.readRest()
            received?.append(rest)
        }
    }

    /// Returns a server that sends each text back.
    static func echo(on address: Loopback = .ipv4, tls: ServerTLS? = nil) throws -> RawServer {
        try RawServer(on: address, tls: tls) { connection in
            try connection.upgrade()
            while true { try connection.send(.text(connection.readFrame().text)) }
        }
    }
}
#endif
