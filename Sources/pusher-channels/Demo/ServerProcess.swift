import ArgumentParser
import Foundation

/// `pusher-channels serve` in a separate process.
final class ServerProcess {
    let port: Int
    var processID: Int32 { process.processIdentifier }
    private let process: Process
    /// The server's standard input, which ends with this process, however that ends.
    private let standardInput = Pipe()

    /// Starts a server and waits until it listens.
    init(port: Int) async throws {
        let process = Process()
        let standardOutput = Pipe()
        process.executableURL = try Self.executable()
        process.arguments = ["serve", "--port", String(port), "--until-input-ends"]
        process.standardInput = standardInput
        process.standardOutput = standardOutput
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
        let line = String(decoding: standardOutput.fileHandleForReading.availableData, as: UTF8.self)
        if line.isEmpty {
            process.waitUntilExit()
            let (status, hasExited) = (process.terminationStatus, process.terminationReason == .exit)
            let end = hasExited ? "ended with \(status)" : "was ended by signal \(status)"
            throw Failure(
                "the server didn't begin to listen on port \(port): it \(end)",
                because: hasExited && status != 0 ? ExitCode(status) : nil)
        }
        guard let port = line.split(separator: ":").last.flatMap({ Int($0.filter(\.isNumber)) }) else {
            throw Failure("the server did not say where it listens")
        }
        self.port = port
    }

    private static func executable() throws -> URL {
        guard let url = Bundle.main.executableURL else { throw Failure("can't find this program's own file") }
        return url
    }

    /// Ends the server as a power cut would, without closing its connections.
    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    deinit {
        kill()
    }
}
