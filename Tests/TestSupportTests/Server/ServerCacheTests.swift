import TestSupport
import Testing

struct ServerCacheTests {
    private var missed: String { #"1: {"event":"pusher:cache_miss","channel":"cache-a"}"# }

    private func rig(_ profile: ServerProfile = .hosted) -> ServerRig {
        ServerRig(ServerMachine(profile: profile, socketIDs: ["1.2", "3.4"]), open: 2)
    }

    @Test func `A subscriber of a cache channel gets the latest event or a cache miss`() {
        var rig = rig()
        rig.subscribe(1, to: "cache-a")
        #expect(rig.sent.count == 2)
        #expect(rig.sent.last == missed)
        rig.publish("cache-a", "price", "1")
        rig.publish("cache-a", "price", "2")
        rig.subscribe(2, to: "cache-a")
        #expect(rig.sent.last == #"2: {"event":"price","channel":"cache-a","data":"2"}"#)
    }

    @Test func `A cache channel keeps an event without subscribers until its lifetime is over`() {
        var rig = rig()
        rig.publish("cache-a", "price", "1")
        rig.now = .seconds(1799)
        rig.subscribe(1, to: "cache-a")
        #expect(rig.sent.last == #"1: {"event":"price","channel":"cache-a","data":"1"}"#)
        rig.receive(#"{"event":"pusher:unsubscribe","data":{"channel":"cache-a"}}"#, from: 1)
        rig.now = .seconds(1800)
        rig.subscribe(1, to: "cache-a")
        #expect(rig.sent.last == missed)
    }

    @Test func `A cache channel doesn't keep client events`() {
        var rig = rig()
        rig.subscribe(1, to: "private-cache-a")
        rig.receive(#"{"event":"client-hi","channel":"private-cache-a","data":{}}"#, from: 1)
        rig.subscribe(2, to: "private-cache-a")
        #expect(rig.sent.last?.contains("pusher:cache_miss") == true)
    }

    @Test func `Apps don't share the events of cache channels`() {
        let apps = ["a", "b"].map { ServerApp(id: $0, key: $0, secret: "s") }
        var rig = ServerRig(ServerMachine(apps: apps))
        rig.open(1, path: "/app/b?protocol=7")
        rig.publish("cache-a", "price", "1", appKey: "a")
        rig.subscribe(1, to: "cache-a")
        #expect(rig.sent.last == missed)
    }

    @Test(arguments: ["a", "private-a", "a-cache-b"]) func `A channel without a cache prefix keeps no event`(channel: String) {
        var rig = rig()
        rig.publish(channel, "price", "1")
        rig.subscribe(1, to: channel)
        #expect(rig.sent.count == 1)
    }

    @Test func `The hosted profile has encrypted cache channels, the pusher-fake profile has none`() {
        for (profile, count) in [(ServerProfile.hosted, 2), (.pusherFake, 1)] {
            var rig = rig(profile)
            rig.subscribe(1, to: "private-encrypted-cache-a")
            #expect(rig.sent.count == count)
        }
    }

    @Test func `The HTTP API returns a cache channel's event and its remaining time`() {
        var rig = rig()
        let ask = RecordedRequest.signed("GET", "/apps/1/channels/cache-a", query: ["info": "cache"])
        #expect(rig.respond(to: ask).text == #"{"cache":null,"occupied":false}"#)
        rig.publish("cache-a", "price", "1")
        rig.now = .seconds(100)
        rig.handle(.timePassed)
        #expect(rig.respond(to: ask).text == #"{"cache":{"data":"1","ttl":1700},"occupied":false}"#)
    }
}
