#if os(Linux)
import Foundation
import Processes
import TestSupport

extension Command {
    /// How a command ended, and all that it printed.
    struct Run: Sendable {
        let end: End?
        let output: [String]
        let errors: [String]

        /// Waits for a command's end, but not for ever.
        init(_ command: Command) async throws {
            (end, output, errors) = try await withWatchdog {
                (await command.end(), await command.output.toEnd(), await command.errors.toEnd())
            }
        }
    }

    /// Runs `pusher-channels` to its end, and ends it rather than wait for ever.
    static func run(
        _ arguments: [String], _ environment: [String: String] = [:], input: String? = nil, onTerminal: Bool = false
    ) async throws -> Run {
        try await run(arguments, environment, bytes: input.map { Data($0.utf8) }, onTerminal: onTerminal)
    }

    /// Runs `pusher-channels` to its end, with these bytes as its standard input.
    static func run(
        _ arguments: [String], _ environment: [String: String] = [:], bytes: Data?, onTerminal: Bool = false
    ) async throws -> Run {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("input-\(UUID())")
        try bytes?.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await Run(
            Command(
                arguments, environment: environment, input: bytes == nil ? "/dev/null" : file.path, onTerminal: onTerminal))
    }

    /// Returns `pusher-channels` as a shell starts it, with redirections such as `<&-`.
    static func inShell(_ arguments: [String], _ redirection: String) throws -> Command {
        try Command(
            program: "/bin/sh", ["-c", #"exec "$0" "$@" "# + redirection, try program()] + arguments,
            environment: ["PUSHER_CONFIG": "/dev/null"])
    }
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
