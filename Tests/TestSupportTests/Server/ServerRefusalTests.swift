import TestSupport
import Testing

/// Clients that the server refuses, with every code that the protocol has for it.
struct ServerRefusalTests {
    private func refusal(
        _ path: String = "/app/local-key?protocol=7", profile: ServerProfile = .hosted, connections: Int = 0,
        _ change: (inout ServerApp) -> Void = { _ in }
    ) -> Int? {
        var app = ServerApp.local
        change(&app)
        var rig = ServerRig(ServerMachine(apps: [app], profile: profile))
        for number in 0..<connections { rig.open(number) }
        rig.open(100, path: path)
        guard let code = rig.error?.code else { return nil }
        #expect(rig.closes.first?.hasPrefix("100: \(code) ") == true)
        return code
    }

    @Test func `An app that requires TLS, is disabled, or is full refuses clients with its code`() {
        #expect(refusal { $0.requiresTLS = true } == 4000)
        #expect(refusal { $0.isEnabled = false } == 4003)
        #expect(refusal(connections: 1) { $0.maximumConnections = 2 } == nil)
        #expect(refusal(connections: 2) { $0.maximumConnections = 2 } == 4004)
        var full = ServerProfile.hosted
        full.maximumConnections = 1
        #expect(refusal(profile: full, connections: 1) == 4100)
    }

    /// Reverb, for example, sends an error to clients over its limit, but doesn't close their connections.
    @Test func `A client that was refused but not closed is closed when the server stops`() {
        var app = ServerApp.local
        app.maximumConnections = 0
        var rig = ServerRig(ServerMachine(apps: [app], profile: .reverb), open: 2)
        #expect(rig.error?.code == 4004)
        rig.handle(.closed(.init(2)))
        #expect(rig.closes.isEmpty)
        rig.shutdown()
        #expect(rig.closes.map { $0.prefix(2) } == ["1:"])
    }

    @Test func `An app that requires TLS serves a secure connection`() {
        var app = ServerApp.local
        app.requiresTLS = true
        var rig = ServerRig(ServerMachine(apps: [app]))
        rig.handle(.opened(.init(1), path: "/app/local-key?protocol=7", isSecure: true))
        #expect(rig.machine.openConnections.count == 1)
    }

    @Test(arguments: [("1.0", nil), ("8.6.0", nil), ("1.x", 4006), ("", 4006), ("1.", 4006)] as [(String, Int?)])
    func `A client version other than digits and dots is refused with 4006`(version: String, code: Int?) {
        #expect(refusal("/app/local-key?protocol=7&version=\(version)") == code)
    }

    @Test func `A client that is silent for too long is closed with the profile's code`() {
        for (profile, after, code) in [(ServerProfile.hosted, 86_400, 4202), (.soketi, 120, 4201)] {
            var rig = ServerRig(ServerMachine(profile: profile), open: 1)
            rig.now = .seconds(after - 1)
            rig.handle(.timePassed)
            #expect(rig.closes.isEmpty)
            rig.now = .seconds(after)
            rig.handle(.timePassed)
            #expect(rig.closes.first?.hasPrefix("1: \(code) ") == true)
            #expect(rig.machine.nextDeadline == nil)
        }
    }

    @Test func `A presence member's id and info are limited in size`() {
        var rig = ServerRig(open: 1)
        rig.subscribe(1, to: "presence-a", as: String(repeating: "x", count: 129))
        #expect(rig.subscriptionError?.type == "LimitReached")
        rig.subscribe(1, to: "presence-a", as: "ann", info: String(repeating: "x", count: 1023))
        #expect(rig.subscriptionError?.type == "LimitReached")
        rig.subscribe(1, to: "presence-a", as: String(repeating: "x", count: 128), info: String(repeating: "x", count: 1022))
        #expect(rig.subscriptionError == nil)
    }

    @Test func `A connection may send ten client events a second, and more when the second is over`() {
        var rig = ServerRig(open: 1)
        rig.subscribe(1, to: "private-a")
        let event = #"{"event":"client-hi","channel":"private-a","data":{}}"#
        for index in 0..<11 {
            rig.now = .milliseconds(50 * index)
            rig.receive(event, from: 1)
            #expect(rig.error?.code == (index < 10 ? nil : 4301))
        }
        rig.now = .milliseconds(999)
        rig.receive(event, from: 1)
        #expect(rig.error?.code == 4301)
        rig.now = .milliseconds(1000)
        rig.receive(event, from: 1)
        #expect(rig.error == nil)
    }

    @Test func `Client events are rejected unless the app accepts them`() {
        var app = ServerApp.local
        app.acceptsClientEvents = false
        var rig = ServerRig(ServerMachine(apps: [app], socketIDs: ["1.2"]), open: 1)
        rig.subscribe(1, to: "private-a")
        rig.receive(#"{"event":"client-hi","channel":"private-a","data":{}}"#, from: 1)
        #expect(rig.error?.code == 4301)
    }
}
