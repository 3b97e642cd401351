#if os(Linux)
import COpenSSL
import Foundation
import Glibc
import Processes
@testable import PusherChannels
import TestSupport
import Testing

#if compiler(>=6.2)
/// The authorities that the system trusts, and when they count. The tests run in their own processes, which may have other
/// authorities than this one.
@Suite struct SystemRootsTests {
    @Test func onlyTheseAreTheOnlyOnes() async {
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

    @Test func aDirectoryHasOneInEachFile() async {
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

    @Test func theEnvironmentCountsAsItWasAtFirst() async {
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
    @Test func withoutADescriptorToReadAFileTheAttemptMayBeMadeAgain() async {
        await #expect(processExitsWith: .success) {
            let authority = try CertificateAuthority()
            let configuration = TLSConfiguration(roots: .only(.file(try authority.file().path)))
            let contexts = TLSContexts()
            let shortage = DescriptorShortage(leaving: 0)
            let isRefused: Bool
            do throws(TransportError) {
                _ = try contexts.context(for: configuration)
                isRefused = false
            } catch {
                isRefused = error.kind == .unreachable && error.message.hasSuffix("can't be read: too many open files")
            }
            shortage.end()
            try #require(isRefused)
            _ = try contexts.context(for: configuration)
            withExtendedLifetime(authority) {}
        }
    }

    @Test func withoutADescriptorToReadThemThereIsNoStore() async {
        await #expect(processExitsWith: .success) {
            let system = try CertificateAuthority()
            setenv("SSL_CERT_FILE", try system.file().path, 1)
            let certificate = try system.issue()
            let contexts = TLSContexts()
            let shortage = DescriptorShortage(leaving: 0)
            let isRefused: Bool
            do throws(TransportError) {
                _ = try contexts.context(for: TLSConfiguration())
                isRefused = false
            } catch {
                isRefused = error.kind == .unreachable && error.message.hasSuffix("can't be read: too many open files")
            }
            shortage.end()
            try #require(isRefused)
            _ = try contexts.context(for: TLSConfiguration())
            let isTrusted = try CertificateStore(.system).vouches(for: certificate)
            try #require(isTrusted)
        }
    }
}
#endif
#endif
