#if os(Linux)
@testable import TestSupport

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

    /// Returns a server that reads a request over TLS up to a text, and then sends bytes that are no record of TLS, as a broken
    /// middlebox does.
    static func leavingTLS(after text: String, read: @escaping @Sendable (String) -> Void = { _ in }) throws -> RawServer {
        let certificate = try CertificateAuthority().issue()
        return try RawServer { connection in
            let session = try TestSupport.TLSContext(ServerTLS(), showing: certificate).stream(over: connection.descriptor)
            var (request, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 4096))
            while !String(decoding: request, as: UTF8.self).contains(text) {
                switch buffer.withUnsafeMutableBytes({ session.receive(into: $0) }) {
                case .bytes(let count): request += buffer[..<count]
                case .nothingYet: _ = Readiness.readable.wait(for: connection.descriptor)
                case .end, .reset: return
                }
            }
            read(String(decoding: request, as: UTF8.self))
            try connection.send("this is no record of TLS")
            _ = connection.readRest()
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
