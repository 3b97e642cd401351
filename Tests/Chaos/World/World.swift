import Foundation
import Glibc
import Processes

/// The simulated environment of a client's process: a name server and a clock that the scenario controls (world.c).
final class World: Sendable {
    /// The host that the client connects to.
    let host = "ws.example"
    /// The environment variables for the client's process.
    let environment: [String: String]
    private let folder: URL

    init(library: String) throws {
        // Not in TMPDIR, which may be accessible only to its user, while the client may run as another user.
        folder = URL(fileURLWithPath: "/tmp/chaos-\(UUID())")
        environment = ["LD_PRELOAD": library, "CHAOS_WORLD": folder.path]
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let pipe = folder.appendingPathComponent(LoopEnd.pipe).path
        // Allows a client that runs as another user to open the pipe, whatever this process's umask is.
        guard mkfifo(pipe, 0o666) == 0, chmod(pipe, 0o666) == 0 else { throw Trouble("no pipe to the client: \(errno)") }
        try setNames(found: true)
        try setClock(ahead: 0)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    func setNames(found: Bool) throws {
        try write(found ? "found" : "missing", to: "names")
    }

    func setClock(ahead seconds: Int) throws {
        try write("\(seconds)", to: "clock")
    }

    /// Makes the client end its loop, with its thread and its descriptors, so that the next attempt makes another loop.
    func endLoop() throws {
        // Doesn't wait for a reader: without one, the wait would never end.
        let descriptor = open(folder.appendingPathComponent(LoopEnd.pipe).path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Trouble("the client doesn't wait for its loop's end: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        guard Glibc.write(descriptor, [0], 1) == 1 else { throw Trouble("the client can't be told to end its loop") }
    }

    private func write(_ line: String, to name: String) throws {
        try Data("\(line)\n".utf8).write(to: folder.appendingPathComponent(name), options: .atomic)
    }
}
