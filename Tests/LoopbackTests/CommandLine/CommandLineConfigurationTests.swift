#if os(Linux)
import ArgumentParser
import Foundation
import Glibc
import Processes
import PusherChannels
import Testing
import TestSupport

@testable import pusher_channels

/// Commands that read their app from a file: which file, what takes precedence over it, and which files are refused.
@Suite(.serialized, .watchdog) struct CommandLineConfigurationTests {
    /// A test's temporary folder, which is deleted with the value.
    private final class Folder {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("pusher-channels-\(UUID().uuidString)")

        init() throws {
            let own = url.appendingPathComponent("pusher-channels")
            try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        }

        deinit {
            try? FileManager.default.removeItem(at: url)
        }

        func path(_ name: String) -> String { url.appendingPathComponent(name).path }

        func file(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
            let file = path(name)
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
            return file
        }
    }

    /// A file has the secret, too, which authorizes a command as one in the environment does.
    @Test func `Options take precedence over the environment, and the environment over the file of --config or the user's own`()
        async throws
    {
        try await withServer(apps: [ServerApp(id: "7", key: "k", secret: "s3cret")]) { server in
            let folder = try Folder()
            let address = "host = 127.0.0.1\nport = \(server.port)\n"
            let file = try folder.file("pusher-channels/config", address + "app-id = 7\nkey = k\nsecret = s3cret\n")
            let other = try folder.file("other", address)
            for (line, variable, id) in [
                ("channels", "", "7"), ("channels", "8", "8"), ("channels --app-id 9", "8", "9"),
                // The file that an option names is read instead of the other file, not after it.
                ("channels --config \(other)", "", "1"),
            ] {
                let own = ["PUSHER_CONFIG": "", "XDG_CONFIG_HOME": folder.url.path, "PUSHER_APP_ID": variable]
                _ = try await Command.run(line, environment: own)
                #expect(server.requests.last?.path == "/apps/\(id)/channels")
            }
            #expect(try await Command.run("trigger news headline {} --config", file) == Command.Run())
            #expect(server.requests.last?.path == "/apps/7/events")
            let listen = try Command("listen", "private-a", "--config", file, "--count", "1")
            try await listen.errors.next(containing: "subscribed to private-a")
        }
    }

    /// The command doesn't wait for such a file, nor read one that never ends.
    @Test func `A configuration file that is missing, not regular, too large, or malformed is refused`() async throws {
        let folder = try Folder()
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        let cases = [
            ("/dev/zero", "this isn't a regular file"), (folder.path("pipe"), "this isn't a regular file"),
            (folder.url.path, "this isn't a regular file"), (folder.path("nowhere"), "No such file or directory"),
            (try folder.file("large", String(repeating: "#", count: 65_537)), "a configuration has at most 65536 bytes"),
            (try folder.file("bad", "key = k\nsecret s3cret\n"), "bad:2: a line is: name = value"),
        ]
        for (path, reason) in cases {
            let error = #expect(throws: (any Error).self) { try Channels.parse(["--config", path]) }
            let message = error.map { Channels.message(for: $0) } ?? ""
            #expect(message.hasSuffix(reason) && !message.contains("s3cret"), "\(message)")
        }
        let run = try await Command.run("channels", environment: ["PUSHER_CONFIG": folder.path("bad")])
        let reason = "Error: \(folder.path("bad")):2: a line is: name = value"
        #expect(run.end == .exit(64) && run.errors.first == reason, "\(run)")
    }

    @Test(
        arguments: [
            (0o600, "secret = s3cret", nil), (0o640, "secret = s3cret", "contains a secret, and others can read it"),
            (0o644, "key = local-key", nil), (0o620, "key = local-key", "can be changed by others"),
            (0o602, "secret = s3cret", "can be changed by others"), (0o666, "secret = s3cret", "can be changed by others"),
        ] as [(Int, String, String?)])
    func `A command warns if others can change its configuration file or read a secret in it`(
        mode: Int, text: String, danger: String?
    ) async throws {
        let folder = try Folder()
        let file = try folder.file("config", text, mode: mode)
        let run = try await Command.run("auth sign private-a --socket-id 1.2 --config", file)
        #expect(run.end == .exit(0) && run.output.count == 1)
        #expect(run.errors == (danger.map { ["warning: \(file) \($0): chmod 600 makes it private"] } ?? []))
    }

    /// The port and TLS are checked with the server that they belong to, which ``ServerOptionsTests`` shows.
    @Test(arguments: [
        ("PUSHER_PORT", "six", "takes a number from 1 to 65535"), ("PUSHER_TLS", "perhaps", "takes 1 or 0"),
        ("PUSHER_TIMEOUT", "nan", "takes a number of seconds, more than 0 and at most a day"),
        ("PUSHER_ENCRYPTION_MASTER_KEY", "abc", "takes 32 bytes in base64"),
    ])
    func `An unusable environment variable is refused by its name`(name: String, value: String, reason: String) async throws {
        let run = try await Command.run("channels", environment: [name: value])
        #expect(run.end == .exit(64))
        #expect(run.errors.first == "Error: $\(name) \(reason)")
    }

    /// Signing waits for no server, and no server need listen on the default port.
    @Test(arguments: [
        (
            "auth sign private-a --socket-id 1.2",
            ["PUSHER_TIMEOUT": "abc", "PUSHER_PORT": "six", "PUSHER_TLS": "perhaps"]
        ),
        ("channels --timeout 10", ["PUSHER_TIMEOUT": "abc"]),
    ])
    func `An environment variable that a command doesn't use may have any value`(line: String, environment: [String: String])
        async throws
    {
        let run = try await Command.run(line, environment: environment)
        #expect(run.end != .exit(64))
        #expect(!run.errors.contains { $0.contains("PUSHER_") }, "\(run.errors)")
    }
}
#endif
