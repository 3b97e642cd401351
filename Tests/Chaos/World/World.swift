import Foundation
import Glibc
import Processes

/// A world made for a client's process: a name server and a clock that the scenario controls (world.c).
final class World: Sendable {
    /// The host that the client connects to.
    let host = "ws.example"
    /// For the client's process.
    let environment: [String: String]
    private let folder: URL

    init(library: String) throws {
        // Not where TMPDIR says: that may be its user's alone, and a client may be another's.
        folder = URL(fileURLWithPath: "/tmp/chaos-\(UUID())")
        environment = ["LD_PRELOAD": library, "CHAOS_WORLD": folder.path]
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let pipe = folder.appendingPathComponent(LoopEnd.pipe).path
        // Also for a client that is another user's, whatever this one's files are by default.
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

    /// Has the client's loop end.
    func endLoop() throws {
        // Without waiting for somebody to read: that would be for ever where nobody does.
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
