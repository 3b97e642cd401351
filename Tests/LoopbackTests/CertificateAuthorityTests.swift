#if os(Linux)
import Foundation
import Processes
import PusherChannels
import Testing
import TestSupport

/// Certificates, keys, pins and files, as OpenSSL's and curl's own tools see them.
@Suite struct CertificateAuthorityTests {
    private func shell(_ script: String, _ variables: [String: String]) async throws -> (output: String, end: Command.End?) {
        let command = try Command(program: "/bin/sh", ["-c", script], environment: variables)
        let output = await command.output.toEnd().joined(separator: "\n")
        return (output, await command.end())
    }

    private func mode(of file: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    }

    // MARK: Pins

    @Test func aPinIsTheHashOfTheKeyInTheCertificate() async throws {
        try await withWatchdog {
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
    }

    @Test func curlAgreesAboutPins() async throws {
        let certificate = try CertificateAuthority().issue()
        let server = try await LocalServer.start(tls: .certificate(certificate))
        server.router["/hello"] = JSONResponse { _ in "World" }
        try await withWatchdog {
            for (pin, end) in [(certificate.publicKeyPin, Command.End.exit(0)), (certificate.authority.publicKeyPin, .exit(90))] {
                let curl = try Command(
                    program: "/usr/bin/curl",
                    ["-sk", "--pinnedpubkey", "sha256//\(pin)", "\(server.url)/hello"])
                #expect(await curl.output.toEnd() == (end == .exit(0) ? [#""World""#] : []))
                #expect(await curl.end() == end)
            }
        }
        await server.stop()
    }

    // MARK: Chains

    @Test func theRootVouchesForWhatIntermediateAuthoritiesIssue() async throws {
        let root = try CertificateAuthority()
        let lowest = try root.intermediate().intermediate()
        #expect(lowest.root === root)
        #expect(root.root === root)
        #expect(root.issuer == nil)
        #expect(lowest.issuer?.issuer === root)
        #expect(try lowest.issue().chainPEM.components(separatedBy: "BEGIN CERTIFICATE").count - 1 == 3)
        let server = try await LocalServer.start(tls: .certificate(lowest.issue()))
        #expect(server.certificateAuthority === root)
        try await withWatchdog {
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
        await server.stop()
    }

    // MARK: Keys and files

    @Test func filesGoWithTheAuthority() throws {
        var authority: CertificateAuthority? = try CertificateAuthority()
        var certificate = try authority?.issueClient()
        let chain = try #require(try certificate?.chainFile())
        let keys = [
            try #require(try certificate?.privateKeyFile()),
            try #require(try certificate?.encryptedPrivateKeyFile(password: "x")),
        ]
        #expect(try certificate?.privateKeyFile() == keys[0])
        #expect(try String(contentsOf: chain, encoding: .utf8) == certificate?.chainPEM)
        #expect(try String(contentsOf: keys[0], encoding: .utf8) == certificate?.privateKeyPEM)
        for key in keys { #expect(try mode(of: key) == 0o600) }
        authority = nil
        #expect(FileManager.default.fileExists(atPath: chain.path))
        certificate = nil
        for file in [chain] + keys { #expect(!FileManager.default.fileExists(atPath: file.path)) }
    }

    @Test func anEncryptedKeyNeedsItsPassword() async throws {
        try await withWatchdog {
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
    }

    @Test func clientsHaveNames() throws {
        let authority = try CertificateAuthority()
        #expect("\(try authority.issueClient(name: "Ann"))" == "certificate of Ann")
        #expect(throws: TLSFixtureError.badName("")) { try authority.issueClient(name: "") }
        #expect(throws: TLSFixtureError.self) { try authority.issueClient(name: String(repeating: "x", count: 65)) }
    }
}
#endif
