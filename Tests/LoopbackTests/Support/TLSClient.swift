#if os(Linux)
import COpenSSL
@testable import PusherChannels
import TestSupport
import Foundation
import Processes
import PusherChannels
import Testing

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
        let command = try Command(program: "/bin/sh", ["-c", "\(saying) | \(([client] + options).joined(separator: " "))"])
        async let remarks = command.errors.toEnd()
        let output = await command.output.toEnd()
        return TLSClient(
            output: output.joined(separator: "\n"), remarks: await remarks.joined(separator: "\n"), end: await command.end())
    }
}
#endif
