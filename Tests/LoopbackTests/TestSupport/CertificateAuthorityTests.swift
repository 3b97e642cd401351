#if os(Linux)
import COpenSSL
import Foundation
import Glibc
import Processes
@testable import PusherChannels
import Testing
import TestSupport

/// Certificates, keys, pins and files, as OpenSSL's and curl's own tools see them.
@Suite(.watchdog) struct CertificateAuthorityTests {
    private func shell(_ script: String, _ variables: [String: String]) async throws -> (output: String, end: Command.End?) {
        let command = try Command(program: "/bin/sh", ["-c", script], environment: variables)
        let output = await command.output.toEnd().joined(separator: "\n")
        return (output, await command.end())
    }

    // MARK: Pins

    @Test func `A pin is the SHA-256 hash of the certificate's public key, as OpenSSL computes it`() async throws {
        let authority = try CertificateAuthority()
        let (server, client) = (try authority.issue(), try authority.issueClient())
        for (file, pin) in [
            (try authority.file(), authority.publicKeyPin), (try server.chainFile(), server.publicKeyPin),
            (try client.chainFile(), client.publicKeyPin),
        ] {
            let (output, _) = try await shell(
                """
                openssl x509 -in "$FILE" -noout -pubkey | openssl pkey -pubin -outform der |
                openssl dgst -sha256 -binary | base64
                """, ["FILE": file.path])
            #expect(output == pin)
        }
        #expect(Set([authority.publicKeyPin, server.publicKeyPin, client.publicKeyPin]).count == 3)
    }

    // MARK: Chains

    @Test func `A client that trusts the root accepts a certificate of an intermediate authority`() async throws {
        let root = try CertificateAuthority()
        let lowest = try root.intermediate().intermediate()
        #expect(lowest.root === root && root.root === root)
        #expect(lowest.issuer?.issuer === root && root.issuer == nil)
        #expect(try lowest.issue().chainPEM.components(separatedBy: "BEGIN CERTIFICATE").count - 1 == 3)
        try await withServer(tls: .certificate(lowest.issue())) { server in
            #expect(server.certificateAuthority === root)
            let file = try root.file().path
            let client = try await TLSClient.connect(
                to: server.port, saying: #"printf 'GET / HTTP/1.0\r\n\r\n'"#, "-verify_return_error", "-CAfile", file)
            #expect(client.remarks.contains("Verification: OK"))
            let stranger = try CertificateAuthority()
            let other = try await TLSClient.connect(
                to: server.port, "-verify_return_error", "-no-CApath", "-no-CAstore", "-CAfile", try stranger.file().path)
            #expect(other.remarks.contains("unable to get local issuer certificate"))
            #expect(other.version == nil)
        }
    }

    // MARK: Keys and files

    @Test func `Files are deleted with their authority or certificate, and key files are private`() throws {
        func exists(_ file: URL) -> Bool { FileManager.default.fileExists(atPath: file.path) }
        var authority: CertificateAuthority? = try CertificateAuthority()
        var certificate = try authority?.issueClient()
        let root = try #require(try authority?.file())
        let chain = try #require(try certificate?.chainFile())
        let key = try #require(try certificate?.privateKeyFile())
        let encrypted = try #require(try certificate?.encryptedPrivateKeyFile(password: "x"))
        #expect(try certificate?.privateKeyFile() == key)
        for (file, text) in [
            (root, authority?.certificatePEM), (chain, certificate?.chainPEM), (key, certificate?.privateKeyPEM),
        ] {
            #expect(try String(contentsOf: file, encoding: .utf8) == text)
        }
        for file in [key, encrypted] {
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        authority = nil
        // The certificate still has its authority.
        #expect(exists(root) && exists(chain))
        certificate = nil
        #expect([root, chain, key, encrypted].filter(exists) == [])
    }

    @Test func `An encrypted private key can be read only with its password`() async throws {
        let certificate = try CertificateAuthority().issueClient()
        let (plain, encrypted) = (
            try certificate.privateKeyFile().path, try certificate.encryptedPrivateKeyFile(password: "pass wörd").path
        )
        #expect(try String(contentsOfFile: encrypted, encoding: .utf8).hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"))
        #expect(certificate.privateKeyPEM.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        let script = #"openssl pkey -in "$FILE" -passin env:PASSWORD"#
        let right = try await shell(script, ["FILE": encrypted, "PASSWORD": "pass wörd"])
        let known = try await shell(script, ["FILE": plain, "PASSWORD": ""])
        #expect(right.output == known.output)
        #expect(right.output + "\n" == certificate.privateKeyPEM)
        let wrong = try await shell(script, ["FILE": encrypted, "PASSWORD": "password"])
        #expect(wrong.output.isEmpty)
        #expect(wrong.end == .exit(1))
    }

    // MARK: Names

    @Test func `A client certificate shows its name, which has from 1 to 64 characters`() throws {
        let authority = try CertificateAuthority()
        #expect("\(try authority.issueClient(name: "Ann"))" == "certificate of Ann")
        #expect(throws: TLSFixtureError.badName("")) { try authority.issueClient(name: "") }
        #expect(throws: TLSFixtureError.self) { try authority.issueClient(name: String(repeating: "x", count: 65)) }
    }

    @Test func `A test authority issues no certificate for an invalid name or address`() throws {
        let authority = try CertificateAuthority()
        for name in ["", "a,DNS:b", "a\nb", "a b", "ä"] {
            #expect(throws: TLSFixtureError.badName(name)) { try authority.issue(names: [name]) }
            #expect(throws: TLSFixtureError.badName(name)) { try authority.issue(addresses: [name]) }
        }
        #expect(throws: TLSFixtureError.self) { try authority.issue(addresses: ["1.2.3"]) }
        #expect(throws: TLSFixtureError.self) { try authority.issue(names: [], addresses: []) }
    }

    @Test func `A test certificate's description and mirror don't reveal its private key`() throws {
        let certificate = try CertificateAuthority().issue()
        #expect(Mirror(reflecting: certificate).children.map(\.label) == ["certificatePEM"])
        #expect("\(certificate)" == "certificate of localhost")
    }
}

#if compiler(>=6.2)
/// Returns whether a configuration's files can't be read while the process has no descriptor left.
private func lacksDescriptors(_ contexts: TLSContexts, _ configuration: TLSConfiguration) -> Bool {
    let shortage = DescriptorShortage(leaving: 0)
    defer { shortage.end() }
    do throws(TransportError) {
        _ = try contexts.context(for: configuration)
        return false
    } catch {
        return error.kind == .unreachable && error.message.hasSuffix("can't be read: too many open files")
    }
}

/// The authorities that the system trusts, and when they count. The tests run in their own processes, which may have other
/// authorities than this one.
@Suite struct SystemRootsTests {
    @Test func `Roots given as the only ones replace the system's roots, and added ones join them`() async {
        await #expect(processExitsWith: .success) {
            let (system, other) = (try CertificateAuthority(), try CertificateAuthority())
            setenv("SSL_CERT_FILE", try system.file().path, 1)
            let certificate = try system.issue()
            let all: [TLSConfiguration.Roots] = [
                .system, .systemAnd(.text(other.certificatePEM)), .only(.text(system.certificatePEM)),
                .only(.text(other.certificatePEM)),
            ]
            let verdicts = try all.map { try CertificateStore($0).vouches(for: certificate) }
            try #require(verdicts == [true, true, true, false])
        }
    }

    @Test func `The directory in SSL_CERT_DIR has one trusted root in each file`() async {
        await #expect(processExitsWith: .success) {
            let system = try CertificateAuthority()
            let directory = FileManager.default.temporaryDirectory.appendingPathComponent("roots-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            setenv("SSL_CERT_FILE", "/nowhere/roots.pem", 1)
            setenv("SSL_CERT_DIR", directory.path, 1)
            // OpenSSL finds the file by the hash of its subject.
            var hash: UInt = 0
            try CertificateList(.text(system.certificatePEM)).forEach { hash = X509_subject_name_hash($0) }
            let name = String("0000000\(String(hash, radix: 16))".suffix(8))
            try system.write(to: directory.appendingPathComponent("\(name).0"))
            let isTrusted = try CertificateStore(.system).vouches(for: system.issue())
            try #require(isTrusted)
        }
    }

    @Test func `The system's roots are those that SSL_CERT_FILE named at its first use`() async {
        await #expect(processExitsWith: .success) {
            let (system, other) = (try CertificateAuthority(), try CertificateAuthority())
            setenv("SSL_CERT_FILE", try system.file().path, 1)
            let stamp = SystemRoots.stamp
            try #require(stamp != nil)
            setenv("SSL_CERT_FILE", try other.file().path, 1)
            try #require(SystemRoots.stamp == stamp)
            let isTrusted = try CertificateStore(.system).vouches(for: system.issue())
            try #require(isTrusted)
        }
    }

    /// Otherwise, a store without authorities would be kept, and refuse every server from then on.
    @Test func `A file of roots that can't be read for lack of descriptors is read at the next attempt`() async {
        await #expect(processExitsWith: .success) {
            let authority = try CertificateAuthority()
            let configuration = TLSConfiguration(roots: .only(.file(try authority.file().path)))
            let contexts = TLSContexts()
            try #require(lacksDescriptors(contexts, configuration))
            _ = try contexts.context(for: configuration)
            withExtendedLifetime(authority) {}
        }
    }

    @Test func `System roots that can't be read for lack of descriptors are read at the next attempt`() async {
        await #expect(processExitsWith: .success) {
            let system = try CertificateAuthority()
            setenv("SSL_CERT_FILE", try system.file().path, 1)
            let certificate = try system.issue()
            let contexts = TLSContexts()
            try #require(lacksDescriptors(contexts, TLSConfiguration()))
            _ = try contexts.context(for: TLSConfiguration())
            let isTrusted = try CertificateStore(.system).vouches(for: certificate)
            try #require(isTrusted)
        }
    }
}
#endif
#endif
