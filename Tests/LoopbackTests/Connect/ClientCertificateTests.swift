#if os(Linux)
import Foundation
import Processes
import PusherChannels
import Testing
import TestSupport

/// Servers that request client certificates and choose TLS versions, as OpenSSL's own tool sees them.
@Suite(.watchdog) struct ClientCertificateTests {
    /// Starts a server that replies to each client that gets through, and records its request, or "" if nothing comes.
    private func serve(_ tls: ServerTLS) throws -> (server: RawServer, heard: Note<String>) {
        let heard = Note<String>()
        let server = try RawServer(tls: tls) { connection in
            heard.send((try? connection.readRequest()) ?? "")
            try connection.send("hello\n")
            connection.finish()
            try connection.readToEnd()
        }
        return (server, heard)
    }

    /// A reason to refuse a client, and OpenSSL's alerts for it in TLS 1.2 and 1.3.
    enum Refusal: CaseIterable, Sendable {
        case nothingShown, stranger, expired, notYetValid, selfSigned, wrongPurpose, rootBesideIntermediate

        var alerts: (tls12: Int, tls13: Int) {
            switch self {
            case .nothingShown: (40, 116)
            case .stranger, .selfSigned, .rootBesideIntermediate: (48, 48)
            case .expired: (45, 45)
            case .notYetValid: (42, 42)
            case .wrongPurpose: (43, 43)
            }
        }

        /// Returns the certificate that a client shows to a server that asks for those of `authority`; nil if it shows none.
        func certificate(of authority: CertificateAuthority) throws -> IssuedCertificate? {
            switch self {
            case .nothingShown: nil
            case .stranger: try CertificateAuthority().issueClient()
            case .expired: try authority.issueClient(flaw: .expired)
            case .notYetValid: try authority.issueClient(flaw: .notYetValid)
            case .selfSigned: try authority.issueClient(flaw: .selfSigned)
            case .wrongPurpose: try authority.issue()
            case .rootBesideIntermediate: try authority.root.issueClient()
            }
        }
    }

    static let versions: [ServerTLS.Version] = [.tls12, .tls13]

    @Test(arguments: Refusal.allCases, versions)
    func `A client without a valid certificate is refused with the TLS alert for the reason`(
        refusal: Refusal, version: ServerTLS.Version
    ) async throws {
        let root = try CertificateAuthority()
        let authority = refusal == .rootBesideIntermediate ? try root.intermediate() : root
        let (server, heard) = try serve(ServerTLS(clientCertificates: .required(by: authority), versions: version...version))
        // More than fits on the way: the client's data must not hide the reason why it is refused.
        let client = try await TLSClient.connect(
            to: server.port, saying: "head -c 3000000 /dev/zero", showing: try refusal.certificate(of: authority))
        #expect(client.output.isEmpty)
        #expect(client.alert == (version == .tls12 ? refusal.alerts.tls12 : refusal.alerts.tls13))
        // In TLS 1.3 the client considers itself connected before it receives the alert.
        #expect(client.version == (version == .tls12 ? nil : "TLSv1.3"))
        #expect(await heard.next() == "")
        #expect(server.tlsProxy?.bytesToClients == 0)
        #expect(server.tlsProxy?.bytesToServer == 0)
    }

    @Test(arguments: versions) func `A client with a certificate of the required authority, or of one below it, is served`(
        version: ServerTLS.Version
    ) async throws {
        let root = try CertificateAuthority()
        let intermediate = try root.intermediate()
        for (asked, shown) in [(root, root), (root, intermediate), (intermediate, intermediate)] {
            let (server, heard) = try serve(ServerTLS(clientCertificates: .required(by: asked), versions: version...version))
            let client = try await TLSClient.connect(to: server.port, showing: try shown.issueClient(name: "Ann Ä"))
            #expect(client.output == "hello")
            #expect(client.alert == nil)
            #expect(await heard.next() == "hi\r\n\r\n")
        }
    }

    @Test(arguments: versions) func `A server that requires client certificates hands out no TLS session to resume`(
        version: ServerTLS.Version
    ) async throws {
        let authority = try CertificateAuthority()
        let (server, _) = try serve(ServerTLS(clientCertificates: .required(by: authority), versions: version...version))
        let session = FileManager.default.temporaryDirectory.appendingPathComponent("session-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: session) }
        let client = try await TLSClient.connect(to: server.port, showing: try authority.issueClient(), "-sess_out", session)
        #expect(client.output == "hello")
        // The client got no session that it could resume.
        #expect(!FileManager.default.fileExists(atPath: session))
    }

    // MARK: Versions

    private static let names: [ServerTLS.Version: (name: String, option: String)] = [
        .tls10: ("TLSv1", "-tls1"), .tls11: ("TLSv1.1", "-tls1_1"), .tls12: ("TLSv1.2", "-tls1_2"),
        .tls13: ("TLSv1.3", "-tls1_3"),
    ]

    @Test(arguments: [ServerTLS.Version.tls11 ... .tls11, .tls10 ... .tls12, .tls12 ... .tls12, .tls13 ... .tls13])
    func `A TLS server speaks exactly the TLS versions that it was given`(versions: ClosedRange<ServerTLS.Version>) async throws {
        let (server, _) = try serve(ServerTLS(versions: versions))
        for version in ServerTLS.Version.allCases {
            let (name, option) = try #require(Self.names[version])
            let client = try await TLSClient.connect(to: server.port, option, "-cipher", "DEFAULT@SECLEVEL=0")
            #expect(client.version == (versions.contains(version) ? name : nil), "\(version)")
            #expect(client.output == (versions.contains(version) ? "hello" : ""), "\(version)")
            if version < versions.lowerBound { #expect(client.alert == 70, "\(version)") }
        }
    }

    @Test func `A TLS server speaks TLS 1.3 and refuses TLS 1.1 by default`() async throws {
        let (server, _) = try serve(.throwaway)
        let old = try await TLSClient.connect(to: server.port, "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0")
        #expect(old.alert == 70)
        #expect(try await TLSClient.connect(to: server.port).version == "TLSv1.3")
    }
}
#endif
