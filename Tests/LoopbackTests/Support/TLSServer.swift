#if os(Linux)
import Foundation
import Glibc
import PusherChannels

/// A TLS server with a certificate that it signed itself: the `openssl` command.
final class TLSServer: Sendable {
    let port: Int
    private let process: Locked<Process>
    private let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let making = Self.openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "certificate.pem")
        making.currentDirectoryURL = directory
        try making.run()
        making.waitUntilExit()

        let serving = Self.openssl("s_server", "-accept", "127.0.0.1:0", "-cert", "certificate.pem", "-key", "key.pem")
        serving.currentDirectoryURL = directory
        let output = Pipe()
        serving.standardOutput = output
        // Its standard input must stay open: it ends with it.
        serving.standardInput = Pipe()
        try serving.run()
        process = Locked(serving)
        // It says where it listens: "ACCEPT 127.0.0.1:41234".
        var text = ""
        var found: Int?
        while found == nil {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw RawServer.Trouble.unexpectedEnd }
            text += String(decoding: data, as: UTF8.self)
            guard
                let line = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().last(where: {
                    $0.hasPrefix("ACCEPT")
                })
            else { continue }
            found = line.split(separator: ":").last.flatMap { Int($0) }
        }
        port = found ?? 0
    }

    deinit {
        // Not `terminate()`: it comes from a thread that masks the signal, which the process inherited.
        process.withLock { _ = kill($0.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: directory)
    }

    private static func openssl(_ arguments: String...) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardError = FileHandle.nullDevice
        return process
    }
}
#endif
