import PusherChannels
import TestSupport
import Testing

/// A test can publish by hand only events that a backend could publish.
struct ServerPublishingTests {
    private static let withoutKey = ServerApp(id: "1", key: "local-key", secret: "local-secret")

    private static let refusals = [
        ("news", "headline", String(repeating: "x", count: 10_241), "The data of event headline is longer than 10240 bytes"),
        ("no channel", "headline", "1", "Invalid channel name: no channel"),
        ("news", "", "1", "Missing: name, a string of at most 200 characters"),
        ("private-encrypted-a", "headline", "1", "app 1 (key local-key) has no master key, and private-encrypted-a is encrypted"),
    ]

    // Proves P18.2.
    @Test(arguments: refusals)
    func `What no backend could publish is not sent, and found at the test's end`(
        channel: String, event: String, data: String, reason: String
    ) async throws {
        let finding = Finding(.error, "did not publish \(event) on \(channel): \(reason)")
        let inMemory = InMemoryServer(ServerMachine(apps: [Self.withoutKey]))
        #expect(inMemory.publish(channel: channel, event: event, data: data) == 0)
        #expect(inMemory.findings == [finding])
        let local = try await LocalServer.start(apps: [Self.withoutKey])
        #expect(local.publish(channel: channel, event: event, data: data) == 0)
        #expect(local.findings == [finding])
        await local.stop()
    }

    @Test func `An app without a master key keeps no other app's event back`() {
        let other = ServerApp(id: "2", key: "other-key", secret: "other-secret")
        for apps in [[.local, other], [other, .local]] {
            let server = InMemoryServer(ServerMachine(apps: apps))
            server.publish(channel: "private-encrypted-a", event: "e", data: "1")
            #expect(server.findings.map(\.kind) == [.unheard])
        }
    }

    @Test func `What is published for an encrypted channel counts as it is sent`() {
        let server = InMemoryServer()
        server.publish(channel: "private-encrypted-a", event: "e", data: String(repeating: "x", count: 10_240))
        #expect(server.findings.map(\.kind) == [.error])
        server.publish(channel: "private-encrypted-a", event: "e", data: String(repeating: "x", count: 7_000))
        #expect(server.findings.map(\.kind) == [.error, .unheard])
    }

    @Test func `A disabled app is forbidden to ask`() {
        var app = ServerApp.local
        app.isEnabled = false
        var rig = ServerRig(ServerMachine(apps: [app]))
        let reply = rig.respond(to: .signed("GET", "/apps/1/channels"))
        #expect(reply.status == 403)
        #expect(reply.text == "App disabled\n")
    }

    @Test func `Users are counted on presence channels only`() {
        var rig = ServerRig()
        let refused = rig.respond(to: .signed("GET", "/apps/1/channels/news", query: ["info": "user_count"]))
        #expect(refused.status == 400)
        #expect(rig.respond(to: .signed("GET", "/apps/1/channels/presence-a", query: ["info": "user_count"])).status == 200)
    }
}
