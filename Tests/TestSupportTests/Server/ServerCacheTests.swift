import TestSupport
import Testing

struct ServerCacheTests {
    private let missed = #"1: {"event":"pusher:cache_miss","channel":"cache-a"}"#

    @Test func `A subscriber of a cache channel gets the latest event or a cache miss`() {
        var rig = ServerRig(open: 2)
        rig.subscribe(1, to: "cache-a")
        #expect(rig.sent.dropFirst() == [missed])
        for price in ["1", "2"] { rig.publish("cache-a", "price", price) }
        rig.subscribe(2, to: "cache-a")
        #expect(rig.sent.last == #"2: {"event":"price","channel":"cache-a","data":"2"}"#)
    }

    @Test func `A cache channel keeps an event without subscribers until its lifetime is over`() {
        var rig = ServerRig(open: 1)
        rig.publish("cache-a", "price", "1")
        rig.now = .seconds(1799)
        rig.subscribe(1, to: "cache-a")
        #expect(rig.sent.last == #"1: {"event":"price","channel":"cache-a","data":"1"}"#)
        rig.unsubscribe(1, from: "cache-a")
        rig.now = .seconds(1800)
        rig.subscribe(1, to: "cache-a")
        #expect(rig.sent.last == missed)
    }

    @Test func `A cache channel doesn't keep client events`() {
        var rig = ServerRig(open: 2)
        rig.subscribe(1, to: "private-cache-a")
        rig.receive(#"{"event":"client-hi","channel":"private-cache-a","data":{}}"#, from: 1)
        rig.subscribe(2, to: "private-cache-a")
        #expect(rig.sent.last?.contains("pusher:cache_miss") == true)
    }

    @Test func `Apps don't share the events of cache channels`() {
        var rig = ServerRig(ServerMachine(apps: ["a", "b"].map { ServerApp(id: $0, key: $0, secret: "s") }))
        rig.open(1, path: "/app/b?protocol=7")
        rig.publish("cache-a", "price", "1", appKey: "a")
        rig.subscribe(1, to: "cache-a")
        #expect(rig.sent.last == missed)
    }

    @Test(
        arguments: [
            ("a", .hosted, 1), ("private-a", .hosted, 1), ("a-cache-b", .hosted, 1), ("private-encrypted-cache-a", .hosted, 2),
            ("private-encrypted-cache-a", .pusherFake, 1),
        ] as [(String, ServerProfile, Int)])
    func `Only channels with a cache prefix of the profile keep an event`(channel: String, profile: ServerProfile, sent: Int) {
        var rig = ServerRig(profile, open: 1)
        rig.publish(channel, "price", "1")
        rig.subscribe(1, to: channel)
        #expect(rig.sent.count == sent)
    }

    @Test func `The HTTP API returns a cache channel's event and its remaining time`() {
        var rig = ServerRig()
        let ask = RecordedRequest.signed("GET", "/apps/1/channels/cache-a", query: ["info": "cache"])
        #expect(rig.respond(to: ask).text == #"{"cache":null,"occupied":false}"#)
        rig.publish("cache-a", "price", "1")
        rig.wait(until: .seconds(100))
        #expect(rig.respond(to: ask).text == #"{"cache":{"data":"1","ttl":1700},"occupied":false}"#)
    }
}
