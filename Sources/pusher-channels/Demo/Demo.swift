import ArgumentParser
import Foundation
import PusherChannels

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what the client does, step by step, against a local server in another process.",
        discussion: """
            Every line is a step that succeeded; the command ends at the first one that doesn't.

            \(Status.text)
            """)

    @Option(help: "The host:port that clients connect to instead of the server: that of a proxy that forwards to it.")
    var front: Endpoint?

    @Option(help: "The port for the server to listen on, to which --front forwards; 0 takes a free one.")
    var serverPort = 0

    @Flag(help: "Have clients use TLS with --front; the server itself doesn't.")
    var tls = false

    @OptionGroup var route: RouteOptions

    func validate() throws {
        try validateListening(serverPort, "--server-port")
        if tls, front == nil { throw ValidationError("--tls requires --front, which speaks TLS for the server") }
        if front != nil, serverPort == 0 { throw ValidationError("--front requires --server-port, the port that it forwards to") }
    }

    func run() async throws {
        let watchdog = Watchdog(seconds: 60)
        defer { watchdog.cancel() }
        let steps = Steps(watchdog: watchdog)
        // The server is in its own process group, which Ctrl-C doesn't reach.
        onInterruption { watchdog.end(status: 128 + $0) }

        var server = try await steps.step("start a server in another process") { try await ServerProcess(port: serverPort) }
        watchdog.take(along: server.processID)
        let port = server.port
        let api = PusherHTTPAPI(
            appID: "1", key: "local-key", secret: "local-secret", host: .host("127.0.0.1"), port: port, useTLS: false)
        let ann = client(of: "ann", serverPort: port)
        let bob = client(of: "bob", serverPort: port)

        try await steps.step("ann and bob connect") {
            ann.pusher.connect()
            bob.pusher.connect()
            try await ann.waitForFirstConnection()
            try await bob.waitForFirstConnection()
        }
        let channels: Set = ["news", "private-orders", "presence-lobby"]
        try await steps.step("ann subscribes to \(channels.sorted().joined(separator: ", "))") {
            for channel in channels.sorted() { ann.subscribe(channel) }
            try await ann.waitForSubscriptions(channels)
        }
        try await steps.step("bob joins the lobby, and ann sees it") {
            bob.subscribe("presence-lobby")
            try await bob.waitForSubscriptions(["presence-lobby"])
            try await ann.wait { if case .memberAdded("bob", _) = $0 { () } else { nil } }
            try expect(members(ann) == ["ann", "bob"], "ann sees \(members(ann)) in the lobby")
        }
        try await steps.step("an event published over HTTP reaches ann") {
            try await publish("before the crash", on: api, to: ann)
        }
        try await steps.step("ann's client event reaches bob, and says whose it is") {
            let result = ann.presence("presence-lobby")?.trigger(eventName: "client-wave", data: ["hand": "left"])
            try expect(result == .sent, "the event was not sent: \(String(describing: result))")
            let event = try await bob.waitForEvent("client-wave")
            let data: [String: String] = try event.decode()
            try expect(event.userID == "ann" && data == ["hand": "left"], "bob received \(event)")
        }
        try await steps.step("bob leaves, and ann sees it") {
            bob.pusher.disconnect()
            try await ann.wait { if case .memberRemoved("bob", _) = $0 { () } else { nil } }
            try expect(members(ann) == ["ann"], "ann sees \(members(ann)) in the lobby")
        }
        try await steps.step("the server is killed, and ann notices") {
            watchdog.take(along: nil)
            server.kill()
            try await ann.waitForState(.reconnecting)
        }
        server = try await steps.step("the server is started again") { try await ServerProcess(port: port) }
        watchdog.take(along: server.processID)
        try await steps.step("ann reconnects and is subscribed to everything again") {
            try await ann.waitForSubscriptions(channels)
        }
        try await steps.step("the next event published over HTTP reaches ann") {
            try await publish("after the crash", on: api, to: ann)
        }
        ann.pusher.disconnect()
        server.kill()
        output("all \(steps.count) steps happened")
    }

    private func client(of userID: String, serverPort: Int) -> DemoClient {
        let endpoint = front ?? Endpoint(host: "127.0.0.1", port: serverPort)
        return DemoClient(
            options: PusherClientOptions(
                authMethod: .authRequestBuilder(authRequestBuilder: SignedInUser(userID: userID, port: serverPort)),
                host: .host(endpoint.host), port: endpoint.port, useTLS: tls, tls: route.tls, proxy: route.proxyConfiguration))
    }

    private func members(_ client: DemoClient) -> [String] {
        (client.presence("presence-lobby")?.members ?? []).map(\.userID).sorted()
    }

    private func publish(_ data: String, on api: PusherHTTPAPI, to client: DemoClient) async throws {
        try await api.trigger(channels: ["news"], eventName: "headline", data: data)
        let event = try await client.waitForEvent("headline")
        try expect(event.data == data, "received \(event.data ?? "nothing")")
    }

    private func expect(_ condition: Bool, _ problem: String) throws {
        guard condition else { throw Failure(problem) }
    }
}
