#if os(Linux)
import Foundation
import Glibc
import Processes
import PusherChannels
import Testing
import TestSupport

/// Commands that read their app from a file: which file, what takes precedence over it, and which files are refused.
@Suite(.serialized) struct CommandLineConfigurationTests {
    /// A test's temporary folder, which is deleted with the value.
    private final class Folder {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("pusher-channels-\(UUID().uuidString)")

        init() throws {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        }

        deinit {
            try? FileManager.default.removeItem(at: url)
        }

        func path(_ name: String) -> String { url.appendingPathComponent(name).path }

        func file(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
            let file = path(name)
            try FileManager.default.createDirectory(
                atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
            return file
        }
    }

    private func configuration(_ server: LocalServer) -> String {
        "host = 127.0.0.1\nport = \(server.url.port ?? 0)\napp-id = 7\nkey = k\nsecret = s3cret\n"
    }

    private func server() async throws -> LocalServer {
        try await LocalServer.start(apps: [ServerApp(id: "7", key: "k", secret: "s3cret")])
    }

    @Test func `A command takes its server, app, and secret from the file of --config`() async throws {
        try await withWatchdog {
            let (server, folder) = (try await server(), try Folder())
            let file = try folder.file("config", configuration(server))
            let trigger = try Command("trigger", "news", "headline", "{}", "--config", file)
            #expect(await trigger.end() == .exit(0))
            #expect(server.requests.map(\.path) == ["/apps/7/events"])
            #expect(await trigger.errors.toEnd() == [])
            // The file's secret authorizes the command, as one in the environment does.
            let listen = try Command("listen", "private-a", "--config", file, "--count", "1")
            try await listen.errors.next(containing: "subscribed to private-a")
            await server.stop()
        }
    }

    @Test(arguments: [["XDG_CONFIG_HOME": ""], ["HOME": ".config/", "XDG_CONFIG_HOME": ""]])
    func `A command finds its configuration file in the user's configuration directory`(variables: [String: String]) async throws
    {
        try await withWatchdog {
            let (server, folder) = (try await server(), try Folder())
            let below = variables["HOME"] ?? ""
            _ = try folder.file(below + "pusher-channels/config", configuration(server))
            var environment = ["PUSHER_CONFIG": "", "XDG_CONFIG_HOME": below.isEmpty ? folder.url.path : ""]
            environment["HOME"] = below.isEmpty ? nil : folder.url.path
            let trigger = try Command(["trigger", "news", "headline", "{}"], environment: environment)
            #expect(await trigger.end() == .exit(0), "\(trigger.errors.all)")
            #expect(server.requests.map(\.path) == ["/apps/7/events"])
            await server.stop()
        }
    }

    @Test func `Options take precedence over the environment, and the environment over the file`() async throws {
        try await withWatchdog {
            let (server, folder) = (try await server(), try Folder())
            let file = try folder.file("config", configuration(server))
            func path(_ arguments: [String], _ environment: [String: String]) async throws -> String? {
                let channels = try Command(
                    ["channels"] + arguments, environment: ["PUSHER_CONFIG": file].merging(environment) { $1 })
                _ = await channels.end()
                return server.requests.last?.path
            }
            #expect(try await path([], [:]) == "/apps/7/channels")
            #expect(try await path([], ["PUSHER_APP_ID": "8"]) == "/apps/8/channels")
            #expect(try await path(["--app-id", "9"], ["PUSHER_APP_ID": "8"]) == "/apps/9/channels")
            // The file that an option names is read instead of the other file, not after it.
            let other = try folder.file("other", "host = 127.0.0.1\nport = \(server.url.port ?? 0)\n")
            #expect(try await path(["--config", other], [:]) == "/apps/1/channels")
            await server.stop()
        }
    }

    /// The command doesn't wait for such a file, nor read one that never ends.
    @Test func `A configuration file that is missing, not regular, too large, or malformed is refused`() async throws {
        try await withWatchdog {
            let folder = try Folder()
            #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
            let cases = [
                ("/dev/zero", "this isn't a regular file"), (folder.path("pipe"), "this isn't a regular file"),
                (folder.url.path, "this isn't a regular file"), (folder.path("nowhere"), "No such file or directory"),
                (try folder.file("large", String(repeating: "#", count: 65_537)), "a configuration has at most 65536 bytes"),
                (try folder.file("bad", "key = k\nsecret s3cret\n"), "bad:2: a line is: name = value"),
            ]
            for (path, reason) in cases {
                for (arguments, environment) in [(["--config", path], [:]), ([], ["PUSHER_CONFIG": path])] {
                    let command = try Command(["channels"] + arguments, environment: environment)
                    #expect(await command.end() == .exit(64))
                    let errors = await command.errors.toEnd()
                    #expect(errors.first?.hasPrefix("Error: ") == true, "\(errors)")
                    #expect(errors.first?.hasSuffix(reason) == true, "\(errors)")
                    #expect(!errors.contains { $0.contains("s3cret") })
                }
            }
        }
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
        try await withWatchdog {
            let folder = try Folder()
            let file = try folder.file("config", text, mode: mode)
            let command = try Command("auth", "sign", "private-a", "--socket-id", "1.2", "--config", file)
            #expect(await command.end() == .exit(0))
            let warnings = danger.map { ["warning: \(file) \($0): chmod 600 makes it private"] }
            #expect(await command.errors.toEnd() == warnings ?? [])
            #expect(await command.output.toEnd().count == 1)
        }
    }

    @Test(arguments: [
        ("PUSHER_PORT", "six", "takes a number from 1 to 65535"), ("PUSHER_TLS", "perhaps", "takes 1 or 0"),
        ("PUSHER_TIMEOUT", "nan", "takes a number of seconds, more than 0 and at most a day"),
        ("PUSHER_ENCRYPTION_MASTER_KEY", "abc", "takes 32 bytes in base64"),
    ])
    func `An unusable environment variable is refused by its name`(name: String, value: String, reason: String) async throws {
        try await withWatchdog {
            let command = try Command(["channels"], environment: [name: value])
            #expect(await command.end() == .exit(64))
            #expect(await command.errors.toEnd().first == "Error: $\(name) \(reason)")
        }
    }

    /// Kubernetes sets such a port, and signing waits for no server.
    @Test(arguments: [
        (
            ["auth", "sign", "private-a", "--socket-id", "1.2"],
            ["PUSHER_TIMEOUT": "abc", "PUSHER_PORT": "six", "PUSHER_TLS": "perhaps"]
        ),
        (["channels"], ["PUSHER_PORT": "tcp://10.96.0.12:6001", "PUSHER_TIMEOUT": ""]),
        (["channels", "--timeout", "10"], ["PUSHER_TIMEOUT": "abc"]),
    ])
    func `An environment variable that a command doesn't use may have any value`(
        arguments: [String], environment: [String: String]
    ) async throws {
        try await withWatchdog {
            let command = try Command(arguments, environment: environment)
            // The test doesn't depend on whether a server listens on the default port.
            #expect(await command.end() != .exit(64))
            let errors = await command.errors.toEnd()
            #expect(!errors.contains { $0.contains("PUSHER_") }, "\(errors)")
        }
    }

    @Test(arguments: ["listen", "trigger", "auth", "webhook"])
    func `The help shows no secret from the environment`(command: String) async throws {
        try await withWatchdog {
            let help = try Command(
                ["help", command], environment: ["PUSHER_SECRET": "s3cret", "PUSHER_ENCRYPTION_MASTER_KEY": "s3cret"])
            #expect(await help.end() == .exit(0))
            let dump = try Command(["--experimental-dump-help"], environment: ["PUSHER_SECRET": "s3cret"])
            #expect(await dump.end() == .exit(0))
            for output in [await help.output.toEnd(), await dump.output.toEnd()] {
                #expect(!output.isEmpty && !output.contains { $0.contains("s3cret") })
            }
        }
    }
}
#endif
