import PusherChannels
import TestSupport
import Testing

@Suite struct BindingTests {
    private let rig = ClientRig.connected()
    private let heard = Locked<[String]>([])

    private func hear(_ who: String) -> @Sendable (PusherEvent) -> Void {
        { [heard] event in heard.withLock { $0.append("\(who): \(event.eventName)") } }
    }

    private var calls: [String] { heard.withLock { $0 } }

    private func publish(_ events: String..., on channel: String = "room") {
        for event in events { rig.socket.publish(channel: channel, event: event, data: "") }
    }

    @Test func `A client's bindings are called before the channel's, in the order of binding, also those for everything`() {
        let room = rig.pusher.subscribe("room")
        for who in ["4", "5"] { room.bind(eventName: "a", eventCallback: hear(who)) }
        let first = rig.pusher.bindGlobal(eventCallback: hear("1"))
        rig.pusher.bind(eventCallback: hear("2"))
        rig.pusher.bindGlobal(eventCallback: hear("3"))
        publish("a")
        rig.pusher.unbind(callbackId: first)
        publish("b")
        rig.socket.serverSends(#"{"event":"c"}"#)
        rig.pusher.unbindAll()
        publish("d")
        rig.socket.serverSends(#"{"event":"e"}"#)
        #expect(calls == ["1: a", "2: a", "3: a", "4: a", "5: a", "2: b", "3: b", "3: c"])
    }

    @Test func `A client's bindings receive channels' own events, global ones all, also joins, counts, and the connection's`() {
        let rig = ClientRig()
        rig.pusher.bind { [heard] event in heard.withLock { $0.append("\(event.channelName ?? "none"): \(event.eventName)") } }
        rig.pusher.bindGlobal(eventCallback: hear("all"))
        rig.pusher.subscribe("presence-room")
        rig.pusher.connect()
        for (event, data) in [("member_added", #"{"user_id":"bob"}"#), ("subscription_count", #"{"subscription_count":2}"#)] {
            rig.socket.serverSendsEvent("pusher_internal:\(event)", channel: "presence-room", data: data)
        }
        rig.socket.serverSends(#"{"event":"pusher:error","data":{"message":"no","code":4301}}"#)
        rig.socket.publish(channel: "presence-room", event: "news", data: "1")
        #expect(
            calls == [
                "all: pusher:connection_established", "presence-room: pusher:subscription_succeeded",
                "all: pusher:subscription_succeeded", "all: pusher:member_added", "all: pusher:subscription_count",
                "all: pusher:error", "presence-room: news", "all: news",
            ])
    }

    @Test func `A binding that another binding removes during an event is not called for that event`() {
        let room = rig.pusher.subscribe("room")
        let (ids, hear) = (Locked<[String]>([]), hear("second"))
        room.bind(eventName: "news") { _ in ids.withLock { $0 }.forEach { room.unbind(eventName: "news", callbackId: $0) } }
        ids.withLock { $0 = [room.bind(eventName: "news", eventCallback: hear)] }
        room.bind(eventName: "news", eventCallback: self.hear("third"))
        publish("news")
        #expect(calls == ["third: news"])
        room.unbindAll()
    }

    @Test func `A channel that a client's binding unsubscribes doesn't get the event being delivered`() {
        let (pusher, room) = (rig.pusher, rig.pusher.subscribe("room"))
        pusher.bind { event in if event.eventName == "news" { pusher.unsubscribe("room") } }
        room.bind(eventName: "news", eventCallback: hear("room"))
        publish("news")
        #expect(calls == [])
        pusher.unbindAll()
    }

    // Proves P6.5.
    @Test func `A channel object stays idle after its channel is unsubscribed and subscribed again`() throws {
        let old = rig.pusher.subscribe("private-room")
        rig.pusher.unsubscribe("private-room")
        let new = rig.pusher.subscribe("private-room")
        old.bind(eventName: "news", eventCallback: hear("old"))
        new.bind(eventName: "news", eventCallback: hear("new"))
        publish("news", on: "private-room")
        #expect(calls == ["new: news"])
        #expect(new.subscribed && !old.subscribed)
        let refusal = try old.trigger(eventName: "client-e", data: [String: String]()).refusal()
        #expect(refusal.message == "private-room was unsubscribed; subscribing to it again gives a channel to trigger events on")
        #expect(new.trigger(eventName: "client-e", data: [String: String]()) == .sent)
    }

    @Test func `A closure is unbound only by its own ID and event name, and is then no longer called`() {
        let room = rig.pusher.subscribe("room")
        let kept = room.bind(eventName: "news", eventCallback: hear("kept"))
        let gone = room.bind(eventName: "news", eventCallback: hear("gone"))
        for (event, id) in [("news", gone), ("weather", kept), ("news", "nobody's")] {
            room.unbind(eventName: event, callbackId: id)
        }
        rig.pusher.unbind(callbackId: rig.pusher.bind(eventCallback: hear("client")))
        publish("news")
        #expect(calls == ["kept: news"])
    }

    @Test func `The bindings of an event, a channel, or the client can be removed all at once`() {
        let room = rig.pusher.subscribe("room")
        for event in ["news", "weather"] { room.bind(eventName: event, eventCallback: hear("room")) }
        rig.pusher.bind(eventCallback: hear("client"))
        room.unbindAll(forEventName: "news")
        publish("news", "weather")
        room.unbindAll()
        rig.pusher.unbindAll()
        publish("weather")
        #expect(calls == ["client: news", "client: weather", "room: weather"])
    }

    @Test func `A binding can subscribe, trigger an event, unsubscribe, and disconnect while it is called`() {
        let (pusher, room) = (rig.pusher, rig.pusher.subscribe("private-room"))
        room.bind(eventName: "news") { _ in
            pusher.subscribe("more")
            room.trigger(eventName: "client-seen", data: ["by": "ann"])
            pusher.unsubscribe("private-room")
        }
        pusher.bind { event in if event.eventName == "end" { pusher.disconnect() } }
        publish("news", on: "private-room")
        let sent = rig.socket.frames.suffix(3).map { "\($0.event ?? "") \($0.channel ?? "")" }
        #expect(sent == ["pusher:subscribe more", "client-seen private-room", "pusher:unsubscribe private-room"])
        #expect(pusher.connection.channels.find(name: "more")?.subscribed == true)
        publish("end", on: "more")
        #expect(pusher.connection.connectionState == .disconnected)
        // The closures capture the channel and the client that hold them: this breaks the cycles.
        room.unbindAll()
        pusher.unbindAll()
    }
}
