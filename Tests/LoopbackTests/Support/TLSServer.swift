#if os(Linux)
import COpenSSL
@testable import PusherChannels
import TestSupport
import Foundation
import Processes
import PusherChannels
import Testing

/// A TLS server with a self-signed certificate, run by the `openssl` command.
final class TLSServer: Sendable {
    let port: Int
    private let process: Command
    private let directory: URL

    private init(port: Int, process: Command, directory: URL) {
        (self.port, self.process, self.directory) = (port, process, directory)
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    static func start() async throws -> TLSServer {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let key = directory.appendingPathComponent("key.pem").path
        let certificate = directory.appendingPathComponent("certificate.pem").path
        let making = try openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate)
        try #require(await making.end() == .exit(0), "\(making.errors.all)")
        // Uses `-www`, because the server would otherwise hang up at the end of its standard input.
        let serving = try openssl("s_server", "-www", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key)
        // The server prints its address: "ACCEPT 127.0.0.1:41234".
        let line = try await serving.output.next(containing: "ACCEPT 127.0.0.1:")
        let port = line.split(separator: ":").last.flatMap { Int($0) } ?? 0
        return TLSServer(port: port, process: serving, directory: directory)
    }

    private static func openssl(_ arguments: String...) throws -> Command {
        try Command(program: "/usr/bin/openssl", arguments)
    }
}

extension CertificateStore {
    /// Returns whether a certificate leads to one of the authorities.
    func vouches(for certificate: IssuedCertificate) throws -> Bool {
        let list = try CertificateList(.text(certificate.certificatePEM))
        guard let verification = X509_STORE_CTX_new() else { return false }
        defer { X509_STORE_CTX_free(verification) }
        var isGood = false
        list.forEach { certificate in
            isGood = X509_STORE_CTX_init(verification, store, certificate, nil) == 1 && X509_verify_cert(verification) == 1
        }
        return isGood
    }
}

/// The result of a connection made by OpenSSL's own client, `openssl s_client`.
struct TLSClient: Sendable {
    /// The text that it received.
    let output: String
    /// Its messages about the connection, and about why it failed.
    let remarks: String
    let end: Command.End?

    /// The negotiated version, such as `TLSv1.3`; nil if the client's side of the handshake wasn't finished.
    var version: String? {
        remarks.split(separator: "\n").first { $0.hasPrefix("Protocol version: ") }?.split(separator: " ").last.map(String.init)
    }

    /// The number of the alert that refused the client.
    var alert: Int? {
        remarks.components(separatedBy: "SSL alert number ").dropFirst().first.flatMap { Int($0.prefix { $0.isNumber }) }
    }

    /// The shell command whose output is sent by default.
    static let greeting = #"printf 'hi\r\n\r\n'"#

    /// Connects and stays until the server ends the connection.
    ///
    /// - Parameters:
    ///   - saying: The shell command whose output is sent.
    ///   - certificate: The client certificate, for servers that ask for one.
    ///   - options: Further options of `openssl s_client`.
    static func connect(
        to port: Int, saying: String = greeting, showing certificate: IssuedCertificate? = nil, _ options: String...
    ) async throws -> TLSClient {
        var options = options
        if let certificate {
            let (chain, key) = (try certificate.chainFile().path, try certificate.privateKeyFile().path)
            options += ["-cert", chain, "-cert_chain", chain, "-key", key]
        }
        let client = "openssl s_client -brief -ign_eof -connect 127.0.0.1:\(port)"
        let command = try Command(
            program: "/bin/sh", ["-c", "\(saying) | \(([client] + options).joined(separator: " "))"])
        async let remarks = command.errors.toEnd()
        let output = await command.output.toEnd()
        return TLSClient(
            output: output.joined(separator: "\n"), remarks: await remarks.joined(separator: "\n"), end: await command.end())
    }
}
#endif
