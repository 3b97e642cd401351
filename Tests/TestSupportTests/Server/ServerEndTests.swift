import Foundation
import Testing

@testable import TestSupport

/// The end of a server when some of its routes don't end.
struct ServerEndTests {
    @Test func `The end of a local server names the routes that still run and doesn't wait for them`() async {
        let (end, continuation) = AsyncStream.makeStream(of: Void.self)
        defer { continuation.finish() }
        let names = await ServerEnd.wait(patience: .milliseconds(1)) {
            for await _ in end {}
        } unless: {
            ["route /slow"]
        }
        #expect(names == ["route /slow"])
    }

    @Test func `The end of a local server waits while its routes end one after the other`() async {
        let (end, continuation) = AsyncStream.makeStream(of: Void.self)
        let looks = Locked(0)
        let names = await ServerEnd.wait(patience: .milliseconds(1)) {
            for await _ in end {}
        } unless: {
            let look = looks.withLock { looks in
                looks += 1
                return looks
            }
            if look == 5 { continuation.finish() }
            return ["route \(look)"]
        }
        #expect(names == [])
    }

    @Test func `A route counts as running until it has responded`() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            server.router.on("/names") { [weak router = server.router] _ in StubResponse(text: router?.goingOn.joined() ?? "") }
            #expect(try await server.ask("/names").hasPrefix("200 route /names (ServerEndTests.swift:"))
            #expect(server.router.goingOn == [])
        }
    }
}

/// The numbers of subscribers that an app's clients are told, if the app counts subscriptions.
struct ServerCountTests {
    private func rig(connections: Int, counts: Bool = true) -> ServerRig {
        ServerRig(.hosted, open: connections, app: { $0.countsSubscriptions = counts })
    }

    private func count(_ count: Int, to connection: Int) -> String {
        #"\#(connection): {"event":"pusher_internal:subscription_count","channel":"news","data":"{\"subscription_count\":\#(count)}"}"#
    }

    @Test func `Subscribers are told of every change of a channel's subscription count`() {
        var rig = rig(connections: 2)
        rig.subscribe(1, to: "news")
        #expect(rig.sent.last == count(1, to: 1))
        rig.subscribe(2, to: "news")
        #expect(rig.sent.suffix(2) == [count(2, to: 1), count(2, to: 2)])
        rig.handle(.closed(.init(2)))
        #expect(rig.sent == [count(1, to: 1)])
    }

    @Test(arguments: [("presence-a", true), ("news", false)])
    func `No subscription count is sent on presence channels or for apps without counts`(channel: String, counts: Bool) {
        var rig = rig(connections: 1, counts: counts)
        rig.subscribe(1, to: channel, as: "ann")
        #expect(rig.sent.count == 1)
    }

    @Test func `Counts for more than a hundred subscribers are sent only every five seconds`() {
        var rig = rig(connections: 102)
        for number in 1...100 { rig.subscribe(number, to: "news") }
        #expect(rig.sent.last == count(100, to: 100))
        for number in 101...102 {
            rig.now = .seconds((number - 101) * 3)
            rig.subscribe(number, to: "news")
            #expect(rig.sent.count == 1)
        }
        #expect(rig.machine.nextDeadline == .seconds(5))
        rig.wait(until: .seconds(5))
        #expect(rig.sent == (1...102).map { count(102, to: $0) })
        rig.wait(until: .seconds(10))
        #expect(rig.sent.isEmpty, "nothing has changed")
    }
}
