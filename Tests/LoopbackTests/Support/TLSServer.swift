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
#endif
