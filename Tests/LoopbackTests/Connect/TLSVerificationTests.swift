#if os(Linux)
import Foundation
import Glibc
import Processes
@testable import PusherChannels
import Testing
@testable import TestSupport

/// Opens a socket to a server; returns why that failed, or nil if it didn't. Every name leads to this machine.
private func refusal(
    of settings: ServerTLS, by tls: TLSConfiguration, host: String = "localhost"
) async throws -> TransportError.Kind? {
    let server = try RawServer.replying(tls: settings)
    let rig = SocketRig(resolve: resolving(to: ["127.0.0.1"]))
    rig.socket.open(WebSocketRequest(secure: true, host: host, port: server.port, path: "/", tls: tls), attempt: first)
    let event = await rig.events.next()
    guard event == .opened(first) || event?.failure != nil else { throw Unexpected("\(String(describing: event))") }
    withExtendedLifetime(server) {}
    return event?.failure?.kind
}

private func trusting(_ authority: CertificateAuthority) -> TLSConfiguration {
    TLSConfiguration(roots: .only(.text(authority.certificatePEM)))
}

/// A client's trust: every flaw of a server's certificate, tested with real certificates, results in the right typed error.
@Suite(.watchdog) struct TLSVerificationTests {
    // MARK: Trusted authorities

    @Test func `An authority given as text or as a file, alone or besides the system's, is trusted`() async throws {
        let authority = try CertificateAuthority()
        let file = PEMSource.file(try authority.file().path)
        for roots in [TLSConfiguration.Roots.only(.text(authority.certificatePEM)), .only(file), .systemAnd(file)] {
            #expect(try await refusal(of: .certificate(authority.issue()), by: TLSConfiguration(roots: roots)) == nil)
        }
    }

    @Test func `Each of several authorities in one PEM text is trusted`() async throws {
        let authorities = try (0..<3).map { _ in try CertificateAuthority() }
        let text = "Some words\n" + authorities.map(\.certificatePEM).joined(separator: "and\n")
        let tls = TLSConfiguration(roots: .only(.text(text)))
        for authority in authorities { #expect(try await refusal(of: .certificate(authority.issue()), by: tls) == nil) }
    }

    @Test func `A self-signed certificate is accepted if the client has it among its authorities`() async throws {
        let certificate = try CertificateAuthority().issue(flaw: .selfSigned)
        let tls = TLSConfiguration(roots: .only(.text(certificate.certificatePEM)))
        #expect(try await refusal(of: .certificate(certificate), by: tls) == nil)
    }

    // MARK: Host names

    @Test(arguments: ["localhost", "LOCALHOST", "localhost.", "127.0.0.1", "a.ws.example"])
    func `A certificate is accepted for its host names in any case, its wildcards and addresses`(host: String) async throws {
        let authority = try CertificateAuthority()
        let certificate = try authority.issue(names: ["localhost", "*.ws.example"])
        #expect(try await refusal(of: .certificate(certificate), by: trusting(authority), host: host) == nil)
    }

    @Test(arguments: ["localhost", "127.0.0.1", "ws.example", "a.b.ws.example", "abc.part.example"])
    func `A certificate is refused for hosts that its names, wildcards and addresses don't cover`(host: String) async throws {
        let authority = try CertificateAuthority()
        let names = ["other.example", "*.ws.example", "a*.part.example"]
        let server = ServerTLS.certificate(try authority.issue(names: names, addresses: ["127.0.0.2"]))
        #expect(try await refusal(of: server, by: trusting(authority), host: host) == .tlsFailed(.wrongHost))
    }

    /// The subject's name is never used, although OpenSSL uses it by default if a certificate has no other name, or only an
    /// address. An address isn't a host name either.
    @Test func `A certificate is refused for a name that only its subject has, and an address among its host names`() async throws
    {
        let authority = try CertificateAuthority()
        let order = CertificateMaker.Order(
            subject: "ws.example", purpose: .server(alternatives: "IP:127.0.0.9"), validFrom: -3600, validTo: 3600)
        for (certificate, host) in [
            (try authority.issue(order), "ws.example"),
            (try authority.issue(names: ["127.0.0.1"], addresses: []), "127.0.0.1"),
        ] {
            let kind = try await refusal(of: .certificate(certificate), by: trusting(authority), host: host)
            #expect(kind == .tlsFailed(.wrongHost))
        }
    }

    // MARK: Without verification

    @Test(arguments: CertificateAuthority.Flaw.allCases)
    func `A client without verification accepts a certificate with any flaw`(flaw: CertificateAuthority.Flaw) async throws {
        let server = ServerTLS.certificate(try CertificateAuthority().issue(flaw: flaw))
        #expect(try await refusal(of: server, by: TLSConfiguration(verification: .insecureAcceptAnyCertificate)) == nil)
    }

    // MARK: Sources of authorities

    /// The file is read on the loop's thread, which serves other connections, too.
    @Test func `A pipe in place of a PEM file is refused without blocking`() async throws {
        let pipe = try NamedPipe(O_RDWR)
        let text = "The file \(pipe.path) can't be read: it isn't a file, or is larger than 16 MiB"
        let failure = try await onThread { () -> TransportError? in
            do throws(TransportError) {
                _ = try CertificateList(.file(pipe.path))
                return nil
            } catch {
                return error
            }
        }
        #expect(failure == TransportError(.tlsFailed(.invalidConfiguration), text))
    }

    /// If a damaged certificate were skipped, it would silently be missing from the trusted authorities.
    @Test func `An empty PEM text is refused, and one with a damaged certificate after a good one`() throws {
        let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        for (text, problem) in [
            ("", "There is no certificate in PEM text"),
            (try CertificateAuthority().certificatePEM + damaged, "A certificate is damaged in PEM text"),
        ] {
            #expect(throws: TransportError(.tlsFailed(.invalidConfiguration), problem)) { _ = try CertificateList(.text(text)) }
        }
    }

    /// The file is overwritten in place, so that only its modification date shows the change.
    @Test func `A file of authorities that is overwritten with as many bytes is read again`() async throws {
        let authorities = try (0..<2).map { _ in try CertificateAuthority() }
        let size = authorities.map(\.certificatePEM.utf8.count).max() ?? 0
        let texts = authorities.map { $0.certificatePEM.padding(toLength: size, withPad: "\n", startingAt: 0) }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("roots-\(UUID().uuidString).pem")
        defer { try? FileManager.default.removeItem(at: file) }
        let tls = TLSConfiguration(roots: .only(.file(file.path)))
        var numbers: [UInt64] = []
        for (index, text) in texts.enumerated() {
            try Data(text.utf8).write(to: file)
            let age = Date(timeIntervalSince1970: 1_700_000_000 + Double(index))
            try FileManager.default.setAttributes([.modificationDate: age], ofItemAtPath: file.path)
            var status = stat()
            #expect(stat(file.path, &status) == 0)
            numbers.append(UInt64(status.st_ino))
            #expect(try await refusal(of: .certificate(authorities[index].issue()), by: tls) == nil)
        }
        #expect(numbers[0] == numbers[1])
    }
}

/// Client certificates, pinned keys and versions that are accepted. For failures, see the page "When connecting fails".
@Suite(.watchdog) struct TLSIdentityTests {
    @Test(arguments: [ServerTLS.Version.tls12, .tls13])
    func `A client shows its certificate, from text or files, to a server that requires one`(version: ServerTLS.Version)
        async throws
    {
        let authority = try CertificateAuthority()
        let ann = try authority.intermediate().issueClient(name: "ann")
        let server = ServerTLS(
            certificate: try authority.issue(), clientCertificates: .required(by: authority), versions: version...version)
        var tls = trusting(authority)
        #expect(try await refusal(of: server, by: tls) != nil)
        tls.identity = TLSConfiguration.Identity(certificateChain: .text(ann.chainPEM), privateKey: .text(ann.privateKeyPEM))
        #expect(try await refusal(of: server, by: tls) == nil)
        tls.identity = TLSConfiguration.Identity(
            certificateChain: .file(try ann.chainFile().path), privateKey: .file(try ann.privateKeyFile().path))
        #expect(try await refusal(of: server, by: tls) == nil)
    }

    @Test func `A rotated client certificate is used by the next connection`() async throws {
        let (old, new) = (try CertificateAuthority(), try CertificateAuthority())
        let server = try old.issue()
        let files = try RotatingFiles(
            [old, new].map { authority in
                let ann = try authority.issueClient(name: "ann")
                return ["tls.crt": ann.chainPEM, "tls.key": ann.privateKeyPEM]
            })
        var tls = trusting(old)
        tls.identity = TLSConfiguration.Identity(
            certificateChain: .file(files.path("tls.crt")), privateKey: .file(files.path("tls.key")))
        #expect(try await refusal(of: ServerTLS(certificate: server, clientCertificates: .required(by: old)), by: tls) == nil)
        try files.rotate()
        #expect(try await refusal(of: ServerTLS(certificate: server, clientCertificates: .required(by: new)), by: tls) == nil)
        #expect(try await refusal(of: ServerTLS(certificate: server, clientCertificates: .required(by: old)), by: tls) != nil)
    }

    @Test func `A rotated authority is trusted by the next connection, and the old one no longer`() async throws {
        let (old, new) = (try CertificateAuthority(), try CertificateAuthority())
        let files = try RotatingFiles([["ca.crt": old.certificatePEM], ["ca.crt": new.certificatePEM]])
        let tls = TLSConfiguration(roots: .only(.file(files.path("ca.crt"))))
        #expect(try await refusal(of: .certificate(old.issue()), by: tls) == nil)
        try files.rotate()
        #expect(try await refusal(of: .certificate(new.issue()), by: tls) == nil)
        #expect(try await refusal(of: .certificate(old.issue()), by: tls) != nil)
    }

    // MARK: Pinned keys

    @Test func `A connection opens if the server's key or an issuing authority's key is pinned`() async throws {
        let root = try CertificateAuthority()
        let middle = try root.intermediate()
        let certificate = try middle.issue()
        let other = try CertificateAuthority().issue().publicKeyPin
        for pin in [certificate.publicKeyPin, middle.publicKeyPin, root.publicKeyPin] {
            let plain = pin.hasPrefix("sha256//") ? String(pin.dropFirst(8)) : pin
            for pins in [Set([plain]), ["sha256//\(plain)"], [other, plain]] {
                var tls = trusting(root)
                tls.pinnedPublicKeys = pins
                #expect(try await refusal(of: .certificate(certificate), by: tls) == nil)
            }
        }
    }

    @Test func `A pinned key doesn't make an untrusted certificate acceptable`() async throws {
        let certificate = try CertificateAuthority().issue()
        let tls = TLSConfiguration(pinnedPublicKeys: [certificate.publicKeyPin])
        #expect(try await refusal(of: .certificate(certificate), by: tls) != nil)
    }

    @Test func `Without verification, only a pin of the server's own key counts, not of an authority's`() async throws {
        let root = try CertificateAuthority()
        let middle = try root.intermediate()
        let certificate = try middle.issue()
        var tls = TLSConfiguration(verification: .insecureAcceptAnyCertificate, pinnedPublicKeys: [certificate.publicKeyPin])
        #expect(try await refusal(of: .certificate(certificate), by: tls) == nil)
        // Anybody can send an authority's certificate along.
        tls.pinnedPublicKeys = [middle.publicKeyPin]
        #expect(try await refusal(of: .certificate(certificate), by: tls) != nil)
    }

    @Test(arguments: ["", "sha256//", "bm90IGEgZGlnZXN0", "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "x\u{1B}[31m"])
    func `An invalid pin of a public key fails the attempt as an invalid configuration`(pin: String) async throws {
        let rig = SocketRig()
        let tls = TLSConfiguration(pinnedPublicKeys: [pin])
        rig.socket.open(WebSocketRequest(secure: true, host: "localhost", port: 1, path: "/", tls: tls), attempt: first)
        let message = "\(pin.debugDescription) isn't a pin of a public key: SHA-256 in base64"
        #expect(await rig.events.next()?.failure == TransportError(.tlsFailed(.invalidConfiguration), message))
    }

    // MARK: Versions

    /// A server with an older one: see "When connecting fails".
    @Test(arguments: [
        (ServerTLS.Version.tls12, TLSConfiguration.Version.tls12), (.tls13, .tls12), (.tls13, .tls13),
    ])
    func `A connection opens if the server speaks the client's minimum TLS version or newer`(
        server: ServerTLS.Version, minimum: TLSConfiguration.Version
    ) async throws {
        let authority = try CertificateAuthority()
        var tls = trusting(authority)
        tls.minimumVersion = minimum
        let oneVersion = ServerTLS(certificate: try authority.issue(), versions: server...server)
        #expect(try await refusal(of: oneVersion, by: tls) == nil)
    }
}
#endif
