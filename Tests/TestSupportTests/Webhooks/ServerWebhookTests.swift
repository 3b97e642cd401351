import Foundation
import TestSupport
import Testing

/// The events that a server's machine reports to backends, and the times at which it reports them.
struct ServerWebhookTests {
    private static let url = "http://backend.example/webhooks"
    private static let date = Date(timeIntervalSince1970: 1_700_000_000.25)

    private func rig(
        _ endpoints: [ServerApp.WebhookEndpoint] = [.init(Self.url)], profile: ServerProfile = .hosted, connections: Int = 2
    ) -> ServerRig {
        let countsSubscriptions = endpoints.contains { $0.kinds == [.subscriptionCount] }
        return ServerRig(
            profile, open: connections, app: { ($0.webhooks, $0.countsSubscriptions) = (endpoints, countsSubscriptions) })
    }

    /// Lets time pass, and returns the webhooks that are sent then.
    private func webhooks(after duration: Duration = .milliseconds(250), _ rig: inout ServerRig) -> [ServerMachine.Webhook] {
        rig.wait(until: rig.now + duration)
        return rig.webhooks
    }

    private func bodies(_ rig: inout ServerRig) -> [String] { webhooks(&rig).map { $0.body(at: Self.date) } }

    private func names(after duration: Duration = .milliseconds(250), _ rig: inout ServerRig) -> [String] {
        webhooks(after: duration, &rig).map(\.description)
    }

    // Proves P18.3.
    @Test func `Each kind of webhook event has its documented form`() {
        var rig = rig()
        rig.subscribe(1, to: "presence-a", as: "ann")
        rig.receive(#"{"event":"client-typing","channel":"presence-a","data":{"x": 1}}"#, from: 1)
        rig.subscribe(1, to: "cache-a")
        rig.subscribe(2, to: "private-a")
        rig.receive(#"{"event":"client-typing","channel":"private-a","data":"text"}"#, from: 2)
        #expect(
            bodies(&rig) == [
                #"{"events":[{"channel":"presence-a","name":"channel_occupied"},"#
                    + #"{"channel":"presence-a","name":"member_added","user_id":"ann"},"#
                    + #"{"channel":"presence-a","data":"{\"x\": 1}","event":"client-typing","name":"client_event","#
                    + #""socket_id":"1.2","user_id":"ann"},"#
                    + #"{"channel":"cache-a","name":"channel_occupied"},{"channel":"cache-a","name":"cache_miss"},"#
                    + #"{"channel":"private-a","name":"channel_occupied"},"#
                    + #"{"channel":"private-a","data":"text","event":"client-typing","name":"client_event","socket_id":"3.4"}],"#
                    + #""time_ms":1700000000250}"#
            ])
        rig.handle(.closed(.init(1)))
        #expect(webhooks(after: .seconds(3), &rig) == [])
        #expect(
            bodies(&rig) == [
                #"{"events":[{"channel":"cache-a","name":"channel_vacated"},"#
                    + #"{"channel":"presence-a","name":"member_removed","user_id":"ann"},"#
                    + #"{"channel":"presence-a","name":"channel_vacated"}],"time_ms":1700000000250}"#
            ])
    }

    @Test func `Webhooks have subscription counts if the app counts subscriptions`() {
        var rig = rig([.init(Self.url, kinds: [.subscriptionCount])])
        rig.subscribe(1, to: "news")
        rig.subscribe(2, to: "news")
        #expect(
            bodies(&rig) == [
                #"{"events":[{"channel":"news","name":"subscription_count","subscription_count":1},"#
                    + #"{"channel":"news","name":"subscription_count","subscription_count":2}],"time_ms":1700000000250}"#
            ])
    }

    /// The signature: python3 -c 'import hmac; print(hmac.new(b"local-secret",
    /// b"{\"events\":[{\"channel\":\"news\",\"name\":\"channel_occupied\"}],\"time_ms\":1700000000250}", "sha256").hexdigest())'
    // Proves P18.3.
    @Test func `A webhook is signed over its body with the app's secret`() throws {
        var rig = rig()
        rig.subscribe(1, to: "news")
        let webhook = try #require(webhooks(&rig).first)
        let request = try #require(webhook.request(secret: "local-secret", at: Self.date))
        let body = #"{"events":[{"channel":"news","name":"channel_occupied"}],"time_ms":1700000000250}"#
        #expect(request.url?.absoluteString == Self.url)
        #expect(request.httpMethod == "POST")
        #expect(request.httpBody == Data(body.utf8))
        for (field, value) in [
            ("Content-Type", "application/json"), ("X-Pusher-Key", "local-key"),
            ("X-Pusher-Signature", "70c77411f9d7f29319e83672ada88bf48c292de8370dad136cc14653cdc6d171"),
        ] {
            #expect(request.value(forHTTPHeaderField: field) == value)
        }
    }

    // Proves P18.5.
    @Test func `A member who returns within three seconds is reported neither as removed nor added`() {
        var rig = rig()
        rig.subscribe(1, to: "presence-a", as: "ann")
        #expect(webhooks(&rig).count == 1)
        rig.handle(.closed(.init(1)))
        #expect(webhooks(after: .milliseconds(2_999), &rig) == [])
        rig.open(3)
        rig.subscribe(3, to: "presence-a", as: "ann")
        #expect(webhooks(after: .seconds(60), &rig) == [])
        rig.handle(.closed(.init(3)))
        #expect(webhooks(after: .milliseconds(3_000), &rig) == [])
        rig.open(4)
        rig.subscribe(4, to: "presence-a", as: "ann")
        #expect(names(&rig) == ["member_removed, channel_vacated, channel_occupied, member_added to \(Self.url)"])
    }

    @Test func `Webhooks don't report a user's second connection or a channel's second subscriber`() {
        var rig = rig()
        for number in 1...2 { rig.subscribe(number, to: "presence-a", as: "ann") }
        #expect(names(&rig) == ["channel_occupied, member_added to \(Self.url)"])
        rig.handle(.closed(.init(1)))
        #expect(names(after: .seconds(10), &rig) == [])
    }

    /// As recorded: only the hosted service waits for a return.
    @Test(arguments: [ServerProfile.soketi, .sockudo, .pusherFake, .ipe, .pusherServerGo])
    func `Other servers report each departure at once, in a webhook of its own`(profile: ServerProfile) {
        var rig = rig(profile: profile, connections: 1)
        for name in ["occupied", "vacated", "occupied"] {
            if name == "vacated" { rig.unsubscribe(1, from: "a") } else { rig.subscribe(1, to: "a") }
            #expect(rig.webhooks.map(\.description) == ["channel_\(name) to \(Self.url)"])
        }
    }

    // Proves P18.4.
    @Test func `A webhook with twenty events is sent at once`() {
        var rig = rig()
        for number in 1...19 { rig.subscribe(1, to: "channel-\(number)") }
        #expect(rig.webhooks == [])
        rig.subscribe(1, to: "channel-20")
        #expect(rig.webhooks.map { $0.body(at: Self.date).contains("channel-20") } == [true])
        rig.subscribe(1, to: "channel-21")
        #expect(rig.webhooks == [])
        #expect(names(&rig) == ["channel_occupied to \(Self.url)"])
    }

    @Test func `Each webhook endpoint gets only the kinds of events it wants`() {
        var rig = rig([.init("http://a", kinds: [.memberAdded]), .init("http://b", kinds: [.channelOccupied])])
        rig.subscribe(1, to: "presence-a", as: "ann")
        #expect(names(&rig) == ["member_added to http://a", "channel_occupied to http://b"])
        rig.subscribe(1, to: "cache-a")
        #expect(names(&rig) == ["channel_occupied to http://b"])
    }

    @Test(arguments: [false, true])
    func `An app or a profile without webhooks sets no deadline for webhooks`(reverb: Bool) {
        var rig = rig(reverb ? [.init(Self.url)] : [], profile: reverb ? .reverb : .hosted, connections: 1)
        let deadline = rig.machine.nextDeadline
        rig.subscribe(1, to: "news")
        #expect(rig.machine.nextDeadline == deadline)
        rig.handle(.closed(.init(1)))
        #expect(rig.machine.nextDeadline == nil)
    }

    @Test func `Webhooks don't report a user's own channel`() {
        var rig = rig()
        rig.signIn(1, as: "ann")
        rig.subscribe(1, to: "#server-to-user-ann")
        #expect(rig.machine.subscribers(of: "#server-to-user-ann").count == 1)
        #expect(names(after: .seconds(1), &rig) == [])
    }
}
