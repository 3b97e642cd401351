#if os(Linux)
@testable import PusherChannels
import TestSupport

extension FailureScenario {
    static let tls = certificates + clientCertificates + versions + configurations

    private static let certificates = [
        FailureScenario("The server's certificate has expired") { try await flawed(.expired) },
        FailureScenario("The server's certificate is not valid yet") { try await flawed(.notYetValid) },
        FailureScenario("The server's certificate is for other hosts") { try await flawed(.wrongHost) },
        FailureScenario("The server's certificate is for other addresses") {
            let authority = try CertificateAuthority()
            let certificate = try authority.issue(addresses: ["127.0.0.2"])
            return try await handshake(with: ServerTLS(certificate: certificate), trusting: authority, host: "127.0.0.1")
        },
        FailureScenario("The server's certificate is signed by itself") { try await flawed(.selfSigned) },
        FailureScenario("Nobody trusts the certificate's authority") {
            try await handshake(with: .throwaway, tls: TLSConfiguration())
        },
        FailureScenario("The server doesn't send the certificates between its own and the authority's") {
            let root = try CertificateAuthority()
            let certificate = try root.intermediate().issue(names: ["ws.example"], flaw: .incompleteChain)
            return try await handshake(with: .certificate(certificate), trusting: root)
        },
        FailureScenario("The server's public key is not the pinned one") {
            let authority = try CertificateAuthority()
            let other = try authority.issue().publicKeyPin
            return try await handshake(
                with: .certificate(authority.issue(names: ["ws.example"])),
                tls: TLSConfiguration(roots: .only(.text(authority.certificatePEM)), pinnedPublicKeys: [other]))
        },
    ]

    private static let clientCertificates = [
        FailureScenario("The server wants a client certificate (TLS 1.3)") { try await asked(.tls13) { _ in nil } },
        FailureScenario("The server wants a client certificate (TLS 1.2)") { try await asked(.tls12) { _ in nil } },
        FailureScenario("The server doesn't know the client certificate's authority") {
            try await asked(.tls13) { _ in try CertificateAuthority().issueClient(name: "ann") }
        },
        FailureScenario("The client's certificate has expired") {
            try await asked(.tls12) { try $0.issueClient(name: "ann", flaw: .expired) }
        },
    ]

    private static let versions = [
        FailureScenario("The server speaks TLS 1.1 only") { try await handshake(with: ServerTLS(versions: .tls11 ... .tls11)) },
        FailureScenario("The server speaks TLS 1.2, the client wants 1.3") {
            try await handshake(with: ServerTLS(versions: .tls12 ... .tls12), tls: TLSConfiguration(minimumVersion: .tls13))
        },
        FailureScenario("The server doesn't speak TLS") {
            try await scripted(secure: true) { connection in
                try connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
                try connection.readToEnd()
            }
        },
        FailureScenario("The server hangs up during the handshake") { try await scripted(secure: true) { $0.finish() } },
        FailureScenario("The server doesn't go on with the handshake") {
            try await scripted(secure: true, timeouts: impatient) { try $0.readToEnd() }
        },
    ]

    private static let configurations = [
        FailureScenario("The file with the authorities isn't there") {
            try await unusable(TLSConfiguration(roots: .only(.file("/etc/app/roots.pem"))))
        },
        FailureScenario("There is no certificate among the authorities") {
            try await unusable(TLSConfiguration(roots: .systemAnd(.text("no certificate"))))
        },
        FailureScenario("An authority's certificate is damaged") {
            let text = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
            return try await unusable(TLSConfiguration(roots: .only(.text(text))))
        },
        FailureScenario("The client's key has a pass phrase") {
            let ann = try CertificateAuthority().issueClient(name: "ann")
            return try await unusable(certificate: ann.chainPEM, key: ann.encryptedPrivateKeyPEM(password: "x"))
        },
        FailureScenario("The client's key belongs to another certificate") {
            let authority = try CertificateAuthority()
            return try await unusable(
                certificate: authority.issueClient(name: "ann").chainPEM,
                key: authority.issueClient(name: "bob").privateKeyPEM)
        },
    ]

    private static func flawed(_ flaw: CertificateAuthority.Flaw) async throws -> FailureReport {
        let authority = try CertificateAuthority()
        return try await handshake(with: .certificate(authority.issue(names: ["ws.example"], flaw: flaw)), trusting: authority)
    }

    /// Runs a server that requests an authority's certificates, and a client that shows one, or none.
    private static func asked(
        _ version: ServerTLS.Version, _ identity: (CertificateAuthority) throws -> IssuedCertificate?
    ) async throws -> FailureReport {
        let authority = try CertificateAuthority()
        let server = ServerTLS(
            certificate: try authority.issue(names: ["ws.example"]), clientCertificates: .required(by: authority),
            versions: version...version)
        var tls = TLSConfiguration(roots: .only(.text(authority.certificatePEM)))
        tls.identity = try identity(authority).map {
            TLSConfiguration.Identity(certificateChain: .text($0.chainPEM), privateKey: .text($0.privateKeyPEM))
        }
        return try await handshake(with: server, tls: tls)
    }

    private static func handshake(
        with server: ServerTLS, trusting authority: CertificateAuthority, host: String = "ws.example"
    ) async throws -> FailureReport {
        try await handshake(with: server, tls: TLSConfiguration(roots: .only(.text(authority.certificatePEM))), host: host)
    }

    private static func handshake(
        with tls: ServerTLS, tls configuration: TLSConfiguration = TLSConfiguration(), host: String = "ws.example"
    ) async throws -> FailureReport {
        let server = try RawServer.replying(tls: tls)
        defer { withExtendedLifetime(server) {} }
        var request = request(port: server.port, host: host, secure: true)
        request.tls = configuration
        return try await failure(of: request, ports: [server.port: 443])
    }

    private static func unusable(certificate: String, key: String) async throws -> FailureReport {
        try await unusable(
            TLSConfiguration(
                identity: TLSConfiguration.Identity(certificateChain: .text(certificate), privateKey: .text(key))))
    }

    private static func unusable(_ configuration: TLSConfiguration) async throws -> FailureReport {
        var request = request(port: 1, secure: true)
        request.tls = configuration
        return try await failure(of: request)
    }
}
#endif
