import Foundation
import Processes
import PusherChannels

/// What a client's process takes for the world: a name server and a clock that the scenario has in its hands.
///
/// Both are libraries that go between the process and the system's: nss_wrapper and libfaketime.
final class World: Sendable {
    enum Part: String, Sendable {
        case names = "libnss_wrapper.so"
        case clock = "libfaketimeMT.so.1"
    }

    let host: String
    private let parts: [Part]
    private let folder: URL

    init(_ parts: [Part]) throws {
        self.parts = parts
        host = parts.contains(.names) ? "ws.example" : "127.0.0.1"
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("chaos-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try setNames(found: true)
        try setClock(offset: 0)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    var environment: [String: String] {
        guard !parts.isEmpty else { return [:] }
        var environment = ["LD_PRELOAD": parts.compactMap { Self.path(of: $0) }.joined(separator: ":")]
        if parts.contains(.names) { environment["NSS_WRAPPER_HOSTS"] = hosts.path }
        if parts.contains(.clock) {
            // What waits must not be faked: a jump of the clock doesn't make time pass.
            environment["FAKETIME_DONT_FAKE_MONOTONIC"] = "1"
            environment["FAKETIME_NO_CACHE"] = "1"
            environment["FAKETIME_TIMESTAMP_FILE"] = clock.path
        }
        return environment
    }

    /// Where the library is, if it is installed.
    static func path(of part: Part) -> String? {
        let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]
        return folders.flatMap { ["\($0)/\(part.rawValue)", "\($0)/faketime/\(part.rawValue)"] }
            .first { FileManager.default.fileExists(atPath: $0) }
    }

    func setNames(found: Bool) throws {
        try Data((found ? "127.0.0.1 \(host)\n" : "127.0.0.1 other.example\n").utf8).write(to: hosts, options: .atomic)
    }

    /// - Parameter offset: How many seconds the clock is ahead.
    func setClock(offset: Int) throws {
        try Data("\(offset < 0 ? "" : "+")\(offset)\n".utf8).write(to: clock, options: .atomic)
    }

    private var hosts: URL { folder.appendingPathComponent("hosts") }
    private var clock: URL { folder.appendingPathComponent("clock") }
}
