#if os(Linux)
import ArgumentParser
import Foundation
import Processes
@testable import pusher_channels
import PusherChannels
import Testing
import TestSupport

/// The options and the output of commands, tested without a process.
@Suite struct CommandLineOptionsTests {
    /// Returns the reason why a command line is refused, with status 64; nil if it can be used.
    private func refusal(of line: String) -> String? {
        let arguments = line.words
        // The user's own file must not matter; these two commands read none.
        let file = ["serve", "demo"].contains(arguments[0]) ? [] : ["--config", "/dev/null"]
        do {
            _ = try PusherChannelsCommand.parseAsRoot(arguments + file)
            return nil
        } catch {
            #expect(Status.of(error).rawValue == 64)
            return PusherChannelsCommand.message(for: error)
        }
    }

    private static let host = "--host takes only a name or an address, without scheme, port and path: use --port for the port"
    private static let hostTwice = "give the host once: by itself, by --host or by --cluster"
    private static let userCount = "--info user_count takes presence channels, or a --prefix that begins with presence-"
    private static let masterKey = "--encryption-master-key takes 32 bytes in base64"
    /// Everybody knows the secret of `serve`'s app: with it, anybody could forge another app's webhooks.
    private static let secret =
        "the key prod isn't that of serve's app: give its secret by --secret, safer in $PUSHER_SECRET"
    private static let proxy = "--proxy takes none, or http://user:password@host:port"
    private static let upstream =
        "--upstream takes http://HOST:PORT, https, ws or wss, and a second one only for the other kind"
    private static let webhook = "--webhook takes an address that begins with http:// or https://"
    private static let name = "--allow-host takes only a host name, such as dev.example: no scheme, port or path"

    @Test(
        arguments: [
            ("trigger a e", "give a channel, an event and its data (after -- if it begins with a hyphen), or --batch"),
            ("trigger a --batch", "--batch takes everything from standard input"),
            ("trigger a e d --host h --cluster eu", "give --host or --cluster, not both"),
            ("trigger a e d --key prod", secret),
            ("trigger private-encrypted-a headline {} --secret another", "private-encrypted-a requires --encryption-master-key"),
            ("channels a --prefix b", "give channels or --prefix, not both"),
            ("channels --info user_count", userCount), ("channels --info cache,user_count --prefix pre", userCount),
            ("channels news --info user_count", userCount), ("channels presence-a news --info user_count", userCount),
            ("channels --encryption-master-key short", masterKey), ("channels --key prod", secret),
            ("users presence-a --timeout 0", "--timeout takes a number of seconds, more than 0 and at most a day"),
            ("auth sign private-a --socket-id 1.2 --key prod", secret), ("webhook verify --signature 00 --key prod", secret),
            ("auth sign presence-a --socket-id 1.2", "give --user-id"),
            (
                "auth sign private-a --socket-id 1.2 --user-id ann",
                "--user-id and --user-info are for presence channels and users"
            ),
            ("auth sign --socket-id 1.2 --user-id ann --user-info []", "--user-info takes a JSON object"),
            ("listen news --port 70000", "--port takes a number from 1 to 65535"),
            ("listen news --port=-1", "--port takes a number from 1 to 65535"),
            ("serve --port=-1", "--port takes a number from 0 to 65535"),
            ("demo --server-port 65536", "--server-port takes a number from 0 to 65535"),
            ("conformance --secret s --webhook-port 99999", "--webhook-port takes a number from 0 to 65535"),
            ("listen news --host http://127.0.0.1", host), ("listen news --host 127.0.0.1:6001", host),
            ("listen private-a --key k", "private-a requires --secret or --auth-endpoint"),
            ("listen presence-a --key k", "presence-a requires --secret or --auth-endpoint"),
            (
                "listen private-encrypted-a --secret s3cret",
                "private-encrypted-a requires --encryption-master-key beside --secret, or --auth-endpoint"
            ),
            ("listen a --key k --encryption-master-key s3cret", "--encryption-master-key requires --secret"),
            ("listen a --key k --user-id ann", "--user-id requires --secret"),
            ("listen a --secret x --encryption-master-key s3cret", masterKey),
            ("listen a --auth-endpoint s3cret", "--auth-endpoint takes an address that begins with http:// or https://"),
            ("listen news --proxy socks5://ann:s3cret@127.0.0.1:1080", proxy),
            ("listen news --proxy ann:s3cret@127.0.0.1:port", proxy),
            ("doctor a.example --host b.example", hostTwice), ("doctor a.example --cluster eu", hostTwice),
            ("doctor --channel news", "--channel takes one that needs an authorization, such as private-orders"),
            ("doctor --secret s --auth-endpoint http://127.0.0.1/", "give --secret or --auth-endpoint, not both"),
            ("serve --encryption-master-key AAAA", masterKey), ("serve --encryption-master-key abc", masterKey),
            ("serve --webhook httpx://a.example", webhook), ("serve --webhook ftp://a.example", webhook),
            ("serve --webhook a.example", webhook),
            ("serve --allow-host http://dev.example", name), ("serve --allow-host dev.example:6001", name),
            ("serve --allow-any-host --allow-host dev.example", "give --allow-any-host or --allow-host, not both"),
            ("serve --record a.har", "--record requires --upstream, the server that is recorded"),
            ("serve --upstream http://a.example", "--upstream requires --record, the file to record in"),
            ("serve --record a.har --upstream a.example:80", upstream),
            ("serve --record a.har --upstream https://ann:s3cret@a.example", upstream),
            ("serve --record a.har --upstream https://a.example/api", upstream),
            ("serve --record a.har --upstream https://a.example --upstream http://b.example", upstream),
            ("serve --record a.har --upstream http://localhost:6001", "--upstream is this server itself: give another --port"),
            ("demo --tls", "--tls requires --front, which speaks TLS for the server"),
            ("demo --front 127.0.0.1:8080", "--front requires --server-port, the port that it forwards to"),
        ] as [(String, String)])
    func `A command line that can't be used is refused with a reason that names its options and no secret`(
        line: String, reason: String
    ) {
        #expect(refusal(of: line) == reason)
        #expect(!reason.contains("s3cret"))
    }

    @Test(arguments: [
        "trigger a e d --info size", "users", "auth sign private-a", "webhook verify",
        "demo --front 127.0.0.1 --server-port 6001", "demo --front :80 --server-port 6001",
        "demo --front [::1]:65536 --server-port 6001",
    ])
    func `A command line without a required argument, or with one that can't be read, is refused`(line: String) {
        #expect(refusal(of: line) != nil)
    }

    /// A server is recorded at one address, or at one for requests and one for WebSockets.
    @Test(arguments: [
        "--record a.har --upstream http://a.example:8080/", "--record a.har --upstream wss://a.example",
        "--record a.har --upstream https://[::1]:6001 --port 6002",
        "--record a.har --upstream https://a.example --upstream wss://b.example",
        "--webhook http://127.0.0.1:8080/hook", "--webhook https://a.example", "--webhook HTTP://a.example",
    ])
    func `The serve command takes the addresses of a server to record and of webhooks`(options: String) {
        #expect(refusal(of: "serve " + options) == nil)
    }

    @Test func `The serve command refuses webhooks of a profile that sends none`() {
        #expect(refusal(of: "serve --profile reverb --webhook http://a.example") == "--webhook: reverb sends no webhooks")
    }

    @Test func `The serve command lists the profiles if it doesn't know the given one`() {
        let refusal = refusal(of: "serve --profile sokketi")
        #expect(refusal?.hasPrefix("There is no profile sokketi; the profiles are hosted, reverb, soketi, ") == true)
    }

    @Test(arguments: [
        "trigger a e d", "channels", "users presence-a", "terminate ann", "doctor", "bench", "listen a", "demo",
    ])
    func `A command refuses a --ca-file that can't be read or has no certificate`(line: String) {
        let nowhere = "--ca-file: /nowhere/roots.pem can't be read"
        #expect(refusal(of: line + " --ca-file /nowhere/roots.pem") == nowhere)
        let noCertificate = "--ca-file takes a PEM file: /etc/passwd has no certificate"
        #expect(refusal(of: line + " --ca-file /etc/passwd") == noCertificate)
    }

    @Test func `An encrypted channel's master key is that of the options, or else that of serve's app with its secret`() throws {
        func masterKey(_ arguments: String..., variables: [String: String] = [:]) throws -> String? {
            let options = try AuthorizationOptions.parse(arguments)
            let method = options.method(Settings(variables: variables, file: nil), localApp: .local)
            guard case .inlineEncrypted(_, let key)? = method else { return nil }
            return key
        }
        let key = Data(repeating: 7, count: 32).base64EncodedString()
        #expect(try masterKey("--secret", "local-secret", "--encryption-master-key", key) == key)
        let known = ServerApp.local.encryptionMasterKey
        #expect(try masterKey() == known && masterKey("--secret", "local-secret") == known)
        #expect(try masterKey(variables: ["PUSHER_SECRET": "local-secret"]) == known)
        #expect(try masterKey("--secret", "s3cret") == nil)
    }

    @Test func `The help of each command names the exit statuses`() {
        let commands: [any ParsableCommand.Type] = [
            PusherChannelsCommand.self, Serve.self, Listen.self, Doctor.self, Trigger.self, SendToUser.self, Channels.self,
            Users.self, Terminate.self, Auth.Sign.self, Webhook.Verify.self, Bench.self, Demo.self,
        ]
        for command in commands {
            let help = PusherChannelsCommand.helpMessage(for: command)
            #expect(help.contains("Exit statuses: 0 for success"), "\(command)")
        }
    }

    @Test(arguments: [("bash", "_pusher"), ("zsh", "#compdef pusher-channels"), ("fish", "complete -c 'pusher-channels'")])
    func `The completion scripts for bash, zsh, and fish name commands and options' values`(shell: String, line: String) throws {
        let text = PusherChannelsCommand.completionScript(for: try #require(CompletionShell(rawValue: shell)))
        #expect(text.contains(line) && text.contains("doctor"))
        // In a help, commas are between the values.
        #expect(text.contains(#/hosted[^,\w]+n?[^,\w]*reverb/#) && text.contains("sa1"))
        #expect(text.contains(#/user_count[^,\w]+n?[^,\w]*subscription_count/#))
    }

    /// Between tokens, an escape would make the JSON invalid; within strings, it means the same character.
    @Test(arguments: [
        ("{\r\n\t\"a\": 1\n}", "{   \"a\": 1 }"),
        ("{\"a\":\"\u{7F}\u{9B}\u{202E}\u{E9}\"}", #"{"a":"\u007f\u009b\u202eé"}"#),
        ("{\"\u{200E}\":\"\u{E0041}\"}", #"{"\u200e":"\udb40\udc41"}"#),
        (#"{"a":"\n"}"#, #"{"a":"\n"}"#),
    ])
    func `JSON that is escaped for a terminal still means the same`(json: String, line: String) throws {
        #expect(json.asSafeJSON == line)
        #expect(try JSONValue(parsing: json.asSafeJSON) == JSONValue(parsing: json))
    }
}

@Suite(.serialized, .watchdog) struct CommandLineTerminalTests {
    private static let terminal = ["TERM": "xterm", "NO_COLOR": "", "FORCE_COLOR": ""]

    @Test(arguments: [
        (true, ["TERM": "xterm"], true, true), (true, ["TERM": "dumb"], false, false), (true, [:], false, false),
        (true, ["TERM": "xterm", "NO_COLOR": "1"], true, false), (true, ["TERM": "xterm", "NO_COLOR": ""], true, true),
        (false, ["TERM": "xterm"], false, false), (false, ["FORCE_COLOR": "1"], false, true),
        (false, ["FORCE_COLOR": ""], false, false),
    ])
    func `Colors in a command's output depend on the terminal, TERM, NO_COLOR, and FORCE_COLOR`(
        isTerminal: Bool, variables: [String: String], canErase: Bool, hasColors: Bool
    ) {
        let traits = TerminalTraits(isTerminal: isTerminal, variables: variables)
        #expect(traits.canErase == canErase && traits.hasColors == hasColors)
        #expect(traits.paint("text", .red) == (hasColors ? "\u{1B}[31mtext\u{1B}[0m" : "text"))
        #expect(traits.paint("text", nil) == "text")
    }

    @Test(arguments: [true, false])
    func `The doctor's lines have colors only on a terminal, with advice below the failed step`(isColored: Bool) async throws {
        let refusing = try RawServer.refusingPort()
        defer { close(refusing.descriptor) }
        let doctor = try await Command.run(
            "doctor 127.0.0.1 --port \(refusing.port)".words, Self.terminal, onTerminal: isColored)
        #expect(doctor.end == .exit(75))
        let output = doctor.output
        let ok = isColored ? "\u{1B}[32mok             \u{1B}[0m" : "ok             "
        let failed = isColored ? "\u{1B}[31mFAILED         \u{1B}[0m" : "FAILED         "
        #expect(output.first == ok + "options        are valid", "\(output)")
        let place = try #require(output.firstIndex { $0.hasPrefix(failed + "tcp            127.0.0.1:") }, "\(output)")
        #expect(output[place].wholeMatch(of: #/.*, after \d+\.\d ms/#) != nil, "\(output)")
        #expect(output.dropFirst(place + 1).first?.contains("Check that the server is running") == true, "\(output)")
        #expect(isColored || !output.contains { $0.contains("\u{1B}") })
    }

    /// What a publisher sends has no colors there either.
    @Test func `The listen command colors its status lines on a terminal`() async throws {
        try await withServer { server in
            let listen = try Command(
                "listen news --count 1 --port \(server.port)".words, environment: Self.terminal, onTerminal: true)
            try await listen.errors.next(containing: "subscribed to news")
            server.publish(channel: "news", event: "n", data: "\u{1B}[31mred")
            let run = try await Command.Run(listen)
            #expect(run.end == .exit(0) && run.errors.map(\.withoutTime).contains("\u{1B}[32mconnected\u{1B}[0m"), "\(run)")
            #expect(run.output.map(\.withoutTime) == [#"news n \u{1b}[31mred"#])
        }
    }

    @Test(arguments: [true, false])
    func `The bench command shows its progress only on a terminal`(onTerminal: Bool) async throws {
        let subscribed = Note<Void>()
        let settings = LocalServer.Settings(onEvent: { event in
            if case .notice(.subscribed) = event { subscribed.send(()) }
        })
        let server = try await LocalServer.start(settings: settings)
        let bench = try Command(
            "bench --json --port \(server.port)".words, environment: Self.terminal, onTerminal: onTerminal)
        await subscribed.next()
        for event in ["tick", "done"] { server.publish(channel: "bench", event: event, data: "{}") }
        let run = try await Command.Run(bench)
        #expect(run.end == .exit(0) && run.output.first?.hasPrefix(#"{"events":1,"#) == true, "\(run)")
        let errors = run.errors.joined()
        let hasProgress = errors.contains("\u{1B}[Kconnecting") || errors.contains("\u{1B}[K0 events tick")
        #expect(hasProgress == onTerminal && errors.hasSuffix("\u{1B}[K") == onTerminal, "\(errors.debugDescription)")
        #expect(errors.contains("\u{1B}") == onTerminal)
        await server.stop()
    }
}
#endif
