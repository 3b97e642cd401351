#if os(Linux)
import Foundation
import Logging
import Processes
import PusherChannels
import TestSupport
import Testing

/// The snippets of "Scaling out", word for word; `ci/checks/snippets` compares them.
@Suite(.watchdog) struct ScalingPageTests {
    /// Compiled only: it would call a server.
    func follow(_ markets: [String]) async throws {
        func handle(_ event: PusherEvent, of channel: String) {}
        let pool = PusherPool(key: "app-key", channelsPerConnection: 100, options: PusherClientOptions(host: .cluster("eu")))
        let updates = pool.updates  // first: what comes earlier is not in it
        pool.subscribe(markets.map { "prices-\($0)" })
        async let connections: Void = pool.run()
        for try await change in updates {
            if case .event(let event) = change.update { handle(event, of: change.channelName) }
        }
        try await connections
    }

    @Test func `A process without the environment variables of a shard takes all channels`() throws {
        let shard = try Shard(environment: ProcessInfo.processInfo.environment)
        #expect(shard == .whole)
    }

    @Test func `A pool whose connections run on several loops subscribes to all its channels`() async throws {
        let server = try await LocalServer.start(apps: [ServerApp(id: "1", key: "app-key", secret: "secret")])
        let options = PusherClientOptions(host: .host(server.host), port: server.port, useTLS: false)
        let loops = (0..<4).map { _ in NetworkLoop() }
        var environment = PusherEnvironment.live
        environment.makeWebSocket = { NetworkWebSocket(loop: loops.randomElement() ?? .shared) }
        let pool = PusherPool(key: "app-key", connections: 20, options: options, environment: environment)
        pool.subscribe((0..<100).map { "prices-\($0)" })
        let updates = pool.updates
        async let connections: Void = pool.run()
        var subscribed = 0
        for try await change in updates {
            if case .subscribed = change.update { subscribed += 1 }
            if subscribed == 100 { break }
        }
        #expect(server.connections.count == pool.connections.filter { !$0.channels.all.isEmpty }.count)
        await pool.shutdown()
        try await connections
        for loop in loops { await loop.shutdown() }
        await server.stop()
    }
}

/// The snippets of "Connections in production", word for word; `ci/checks/snippets` compares them. Compiled only: they would call
/// servers.
enum ProductionPageTests {
    static func tls() {
        let options = PusherClientOptions(
            host: .host("ws.internal.example"),
            tls: TLSConfiguration(
                roots: .only(.file("/etc/app/authority.pem")),
                identity: TLSConfiguration.Identity(
                    certificateChain: .file("/etc/app/tls.crt"), privateKey: .file("/etc/app/tls.key")),
                minimumVersion: .tls13))
        _ = options
    }

    static func proxy() {
        let options = PusherClientOptions(
            host: .cluster("eu"),
            proxy: .http(
                HTTPProxy(
                    host: "proxy.example", port: 3128,
                    credentials: HTTPProxy.Credentials(user: "service", password: "from your secrets"))))
        _ = options
    }

    static func loops() {
        let loops = (0..<4).map { _ in NetworkLoop() }
        let environment = PusherEnvironment(makeWebSocket: { NetworkWebSocket(loop: loops.randomElement() ?? .shared) })
        let pusher = Pusher(key: "app-key", environment: environment)
        _ = pusher
    }
}

/// The README's first screen: its commands, in their order, print what it shows. They use port 6001, as a user's do.
@Suite(.watchdog) struct FirstScreenTests {
    /// A block of the README: a command for `swift run`, and the lines that it prints.
    private struct Step {
        let program: String
        let arguments: String
        let lines: [String]
    }

    private static func steps() throws -> [Step] {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../README.md")
        let block = #/```console\n\$ swift run (?<program>\S+)(?<arguments>.*)\n(?<lines>[^`]*)```/#
        return try String(contentsOf: page, encoding: .utf8).matches(of: block).map { match in
            Step(
                program: String(match.program), arguments: String(match.arguments),
                lines: match.lines.split(separator: "\n").map { String($0) })
        }
    }

    private func start(_ step: Step) throws -> Command {
        let folder = URL(fileURLWithPath: try Command.program()).deletingLastPathComponent()
        let program = folder.appendingPathComponent(step.program).path
        return try Command(
            program: "/bin/sh", ["-c", "exec \"$0\" \(step.arguments)", program], environment: ["PUSHER_CONFIG": "/dev/null"])
    }

    @Test func `The README's first commands print what the README shows`() async throws {
        let steps = try Self.steps()
        #expect(steps.map(\.program) == ["pusher-channels", "pusher-hello", "pusher-channels"])
        guard steps.count == 3 else { return }
        let server = try start(steps[0])
        for line in steps[0].lines {
            guard let printed = await server.output.next() else {
                // Another program of this machine, such as a server of the developer's own, has the port.
                #expect(await server.errors.next()?.contains("Address already in use") == true)
                return
            }
            #expect(printed == line)
        }
        let hello = try start(steps[1])
        try await server.errors.next(containing: "subscribed to private-orders")
        #expect(await (try start(steps[2])).end() == .exit(0))
        for line in steps[1].lines { #expect(await hello.output.next() == line) }
    }
}
#endif
