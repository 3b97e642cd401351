#if os(Linux)
import Foundation
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// Client certificates, pinned keys and versions that are accepted. For failures, see the page "When connecting fails".
@Suite struct TLSIdentityTests {
    /// Returns whether a client with these settings can open a connection to a server.
    private func opens(_ server: ServerTLS, _ tls: TLSConfiguration) async throws -> Bool {
        let raw = try RawServer.replying(tls: server)
        defer { withExtendedLifetime(raw) {} }
        return try await withWatchdog {
            let rig = SocketRig()
            rig.socket.open(
                WebSocketRequest(secure: true, host: "localhost", port: raw.port, path: "/", tls: tls), attempt: first)
            return await rig.events.next() == .opened(first)
        }
    }

    private func trusting(_ authority: CertificateAuthority) -> TLSConfiguration {
        TLSConfiguration(roots: .only(.text(authority.certificatePEM)))
    }

    @Test(arguments: [ServerTLS.Version.tls12, .tls13])
    func aClientShowsItsCertificate(version: ServerTLS.Version) async throws {
        let authority = try CertificateAuthority()
        let clients = try authority.intermediate()
        let ann = try clients.issueClient(name: "ann")
        let server = ServerTLS(
            certificate: try authority.issue(), clientCertificates: .required(by: authority), versions: version...version)
        var tls = trusting(authority)
        #expect(try await !opens(server, tls))
        tls.identity = TLSConfiguration.Identity(certificateChain: .text(ann.chainPEM), privateKey: .text(ann.privateKeyPEM))
        #expect(try await opens(server, tls))
        tls.identity = TLSConfiguration.Identity(
            certificateChain: .file(try ann.chainFile().path), privateKey: .file(try ann.privateKeyFile().path))
        #expect(try await opens(server, tls))
    }

    @Test func aRotatedClientCertificateIsUsedByTheNextConnection() async throws {
        let old = try CertificateAuthority()
        let new = try CertificateAuthority()
        let server = try old.issue()
        let files = try RotatingFiles(
            [old, new].map { authority in
                let ann = try authority.issueClient(name: "ann")
                return ["tls.crt": ann.chainPEM, "tls.key": ann.privateKeyPEM]
            })
        var tls = trusting(old)
        tls.identity = TLSConfiguration.Identity(
            certificateChain: .file(files.path("tls.crt")), privateKey: .file(files.path("tls.key")))
        #expect(try await opens(ServerTLS(certificate: server, clientCertificates: .required(by: old)), tls))
        try files.rotate()
        #expect(try await opens(ServerTLS(certificate: server, clientCertificates: .required(by: new)), tls))
        #expect(try await !opens(ServerTLS(certificate: server, clientCertificates: .required(by: old)), tls))
    }

    @Test func aRotatedAuthorityIsTrustedByTheNextConnection() async throws {
        let old = try CertificateAuthority()
        let new = try CertificateAuthority()
        let files = try RotatingFiles([["ca.crt": old.certificatePEM], ["ca.crt": new.certificatePEM]])
        let tls = TLSConfiguration(roots: .only(.file(files.path("ca.crt"))))
        #expect(try await opens(.certificate(old.issue()), tls))
        try files.rotate()
        #expect(try await opens(.certificate(new.issue()), tls))
        #expect(try await !opens(.certificate(old.issue()), tls))
    }

    // MARK: Pinned keys

    @Test func oneOfTheKeysThatVouchForTheServerIsPinned() async throws {
        let root = try CertificateAuthority()
        let middle = try root.intermediate()
        let certificate = try middle.issue()
        let other = try CertificateAuthority().issue().publicKeyPin
        for pin in [certificate.publicKeyPin, middle.publicKeyPin, root.publicKeyPin] {
            let plain = pin.hasPrefix("sha256//") ? String(pin.dropFirst(8)) : pin
            for pins in [Set([plain]), ["sha256//\(plain)"], [other, plain]] {
                var tls = trusting(root)
                tls.pinnedPublicKeys = pins
                #expect(try await opens(.certificate(certificate), tls))
            }
        }
    }

    @Test func aPinDoesNotReplaceTrust() async throws {
        let certificate = try CertificateAuthority().issue()
        let tls = TLSConfiguration(pinnedPublicKeys: [certificate.publicKeyPin])
        #expect(try await !opens(.certificate(certificate), tls))
    }

    @Test func withoutVerificationOnlyTheServersOwnKeyCounts() async throws {
        let root = try CertificateAuthority()
        let middle = try root.intermediate()
        let certificate = try middle.issue()
        var tls = TLSConfiguration(verification: .insecureAcceptAnyCertificate, pinnedPublicKeys: [certificate.publicKeyPin])
        #expect(try await opens(.certificate(certificate), tls))
        // Anybody can send an authority's certificate along.
        tls.pinnedPublicKeys = [middle.publicKeyPin]
        #expect(try await !opens(.certificate(certificate), tls))
    }

    @Test(arguments: ["", "sha256//", "bm90IGEgZGlnZXN0", "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "x\u{1B}[31m"])
    func whatIsNoPin(pin: String) async throws {
        let rig = SocketRig()
        let tls = TLSConfiguration(pinnedPublicKeys: [pin])
        rig.socket.open(WebSocketRequest(secure: true, host: "localhost", port: 1, path: "/", tls: tls), attempt: first)
        let failure = try await withWatchdog { await rig.events.untilClosed().last?.failure }
        #expect(failure?.kind == .tlsFailed(.invalidConfiguration))
        #expect(failure?.message == "\(pin.debugDescription) isn't a pin of a public key: SHA-256 in base64")
    }

    // MARK: Versions

    @Test(arguments: [
        (ServerTLS.Version.tls12, TLSConfiguration.Version.tls12, true), (.tls13, .tls12, true), (.tls13, .tls13, true),
        (.tls12, .tls13, false), (.tls11, .tls12, false), (.tls10, .tls12, false),
    ])
    func theOldestVersion(server: ServerTLS.Version, minimum: TLSConfiguration.Version, isFine: Bool) async throws {
        let authority = try CertificateAuthority()
        var tls = trusting(authority)
        tls.minimumVersion = minimum
        #expect(try await opens(ServerTLS(certificate: authority.issue(), versions: server...server), tls) == isFine)
    }
}
#endif
