import TestSupport
import Testing

/// Clients that the server refuses, with every code that the protocol has for it.
struct ServerRefusalTests {
    private func refusal(
        _ path: String = "/app/local-key?protocol=7", connections: Int = 0,
        profile changeProfile: (inout ServerProfile) -> Void = { _ in }, app changeApp: (inout ServerApp) -> Void = { _ in }
    ) -> Int? {
        var rig = ServerRig(.hosted, open: connections, changing: changeProfile, app: changeApp)
        rig.open(100, path: path)
        guard let code = rig.error?.code else { return nil }
        #expect(rig.closes.first?.hasPrefix("100: \(code) ") == true)
        return code
    }

    @Test func `An app that requires TLS, is disabled, or is full refuses clients with its code`() {
        #expect(refusal(app: { $0.requiresTLS = true }) == 4000)
        #expect(refusal(app: { $0.isEnabled = false }) == 4003)
        #expect(refusal(connections: 1, app: { $0.maximumConnections = 2 }) == nil)
        #expect(refusal(connections: 2, app: { $0.maximumConnections = 2 }) == 4004)
        #expect(refusal(connections: 1, profile: { $0.maximumConnections = 1 }) == 4100)
    }

    /// Reverb, for example, sends an error to clients over its limit, but doesn't close their connections.
    @Test func `A client that was refused but not closed is closed with all others or when the server stops`() {
        var rig = ServerRig(.reverb, open: 2, app: { $0.maximumConnections = 0 })
        #expect(rig.error?.code == 4004)
        rig.handle(.closed(.init(2)))
        #expect(rig.closes.isEmpty)
        rig.shutdown()
        #expect(rig.closes.map { $0.prefix(2) } == ["1:"])
        rig.open(3)
        rig.machine.closeAll(code: 4200, reason: "restart")
        #expect(rig.machine.takeEffects() == [.close(.init(3), code: 4200, reason: "restart")])
    }

    @Test func `An app that requires TLS serves a secure connection`() {
        var rig = ServerRig(.hosted, app: { $0.requiresTLS = true })
        rig.handle(.opened(.init(1), path: "/app/local-key?protocol=7", isSecure: true))
        #expect(rig.machine.openConnections.count == 1)
    }

    @Test(arguments: [("1.0", nil), ("8.6.0", nil), ("1.x", 4006), ("", 4006), ("1.", 4006)] as [(String, Int?)])
    func `A client version other than digits and dots is refused with 4006`(version: String, code: Int?) {
        #expect(refusal("/app/local-key?protocol=7&version=\(version)") == code)
    }

    @Test func `A client that is silent for too long is closed with the profile's code`() {
        for (profile, after, code) in [(ServerProfile.hosted, 86_400, 4202), (.soketi, 120, 4201)] {
            var rig = ServerRig(profile, open: 1)
            rig.wait(until: .seconds(after - 1))
            #expect(rig.closes.isEmpty)
            rig.wait(until: .seconds(after))
            #expect(rig.closes.first?.hasPrefix("1: \(code) ") == true)
            #expect(rig.machine.nextDeadline == nil)
        }
    }

    @Test func `A presence member's id and info are limited in size`() {
        var rig = ServerRig(open: 1)
        for (id, info, error) in [(129, 0, "LimitReached"), (3, 1023, "LimitReached"), (128, 1022, nil)] {
            let text = String(repeating: "x", count: 1023)
            rig.subscribe(1, to: "presence-a", as: String(text.prefix(id)), info: String(text.prefix(info)))
            #expect(rig.subscriptionError?.type == error)
        }
    }

    @Test func `A connection may send ten client events a second, and more when the second is over`() {
        var rig = ServerRig(open: 1)
        rig.subscribe(1, to: "private-a")
        let first = (0..<10).map { (50 * $0, Int?.none) }
        for (time, code) in first + [(500, 4301), (999, 4301), (1000, nil)] {
            rig.now = .milliseconds(time)
            rig.receive(#"{"event":"client-hi","channel":"private-a","data":{}}"#, from: 1)
            #expect(rig.error?.code == code, "\(time)")
        }
    }

    @Test func `Client events are rejected unless the app accepts them`() {
        var rig = ServerRig(.hosted, open: 1, app: { $0.acceptsClientEvents = false })
        rig.subscribe(1, to: "private-a")
        rig.receive(#"{"event":"client-hi","channel":"private-a","data":{}}"#, from: 1)
        #expect(rig.error?.code == 4301)
    }
}
