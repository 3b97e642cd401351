import Foundation
import Processes

/// What a client's process takes for the world: a name server and a clock that the scenario has in its hands (world.c).
final class World: Sendable {
    /// What the client connects to.
    let host = "ws.example"
    /// For the client's process.
    let environment: [String: String]
    private let folder: URL

    init(library: String) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("chaos-\(UUID())")
        environment = ["LD_PRELOAD": library, "CHAOS_WORLD": folder.path]
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
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

    private func write(_ line: String, to name: String) throws {
        try Data("\(line)\n".utf8).write(to: folder.appendingPathComponent(name), options: .atomic)
    }
}
