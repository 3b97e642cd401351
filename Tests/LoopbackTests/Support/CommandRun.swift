#if os(Linux)
import Foundation
import Processes
import TestSupport

extension Command {
    /// How a command ended, and all that it printed.
    struct Run: Equatable, Sendable {
        var end: End? = .exit(0)
        var output: [String] = []
        var errors: [String] = []
    }

    /// Runs `pusher-channels` to its end, with `input` as its standard input, and ends it rather than wait for ever.
    static func run(
        _ arguments: [String], _ environment: [String: String] = [:], input: Data = Data(), onTerminal: Bool = false
    ) async throws -> Run {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("input-\(UUID())")
        try input.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await Run(Command(arguments, environment: environment, input: file.path, onTerminal: onTerminal))
    }

    /// Runs a line of words, with `rest` as its last arguments.
    static func run(
        _ line: String, _ rest: String..., environment: [String: String] = [:], input: String = ""
    ) async throws -> Run {
        try await run(line.words + rest, environment, input: Data(input.utf8))
    }

    /// Returns `pusher-channels` as a shell starts it, with redirections such as `<&-`.
    static func inShell(_ line: String, _ redirection: String) throws -> Command {
        try Command(
            program: "/bin/sh", ["-c", #"exec "$0" "$@" "# + redirection, try program()] + line.words,
            environment: ["PUSHER_CONFIG": "/dev/null"])
    }
}

extension Command.Run {
    /// Waits for a command's end, but not for ever.
    init(_ command: Command) async throws {
        (end, output, errors) = try await withWatchdog {
            (await command.end(), await command.output.toEnd(), await command.errors.toEnd())
        }
    }

    /// Returns whether the command ended with a status and, in its last line, a reason that begins and ends so.
    func failed(_ status: Int32, _ beginning: String = "", _ ending: String = "") -> Bool {
        end == .exit(status) && errors.last?.hasPrefix("Error: " + beginning) == true && errors.last?.hasSuffix(ending) == true
    }
}

extension LocalServer {
    /// Runs a command line in this server's environment.
    func run(_ line: String, input: String = "") async throws -> Command.Run {
        try await Command.run(line.words, environment, input: Data(input.utf8))
    }
}

extension String {
    var words: [String] { split(separator: " ").map(String.init) }
}

/// Runs `body` with a local server, and ends it rather than wait for ever.
func withServer(
    apps: [ServerApp] = [.local], profile: ServerProfile = .hosted, tls: ServerTLS? = nil,
    _ body: @escaping @Sendable (LocalServer) async throws -> Void
) async throws {
    let server = try await LocalServer.start(apps: apps, profile: profile, tls: tls)
    try await withWatchdog { try await body(server) }
    await server.stop()
}
#endif
