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

    @Test func `A client's bindings are called first, then the channel's in the order of binding`() {
        let room = rig.pusher.subscribe("room")
        rig.pusher.bind(eventCallback: hear("client"))
        room.bind(eventName: "news", eventCallback: hear("1"))
        room.bind(eventName: "news", eventCallback: hear("2"))
        rig.socket.publish(channel: "room", event: "news", data: "")
        #expect(calls == ["client: news", "1: news", "2: news"])
    }

    @Test func `A binding that another binding removes during an event is not called for that event`() {
        let room = rig.pusher.subscribe("room")
        let (ids, hear) = (Locked<[String]>([]), hear("second"))
        room.bind(eventName: "news") { _ in ids.withLock { $0 }.forEach { room.unbind(eventName: "news", callbackId: $0) } }
        ids.withLock { $0 = [room.bind(eventName: "news", eventCallback: hear)] }
        room.bind(eventName: "news", eventCallback: self.hear("third"))
        rig.socket.publish(channel: "room", event: "news", data: "")
        #expect(calls == ["third: news"])
        room.unbindAll()
    }

    @Test func `A channel that a client's binding unsubscribes doesn't get the event being delivered`() {
        let (pusher, room) = (rig.pusher, rig.pusher.subscribe("room"))
        pusher.bind { event in if event.eventName == "news" { pusher.unsubscribe("room") } }
        room.bind(eventName: "news", eventCallback: hear("room"))
        rig.socket.publish(channel: "room", event: "news", data: "")
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
        rig.socket.publish(channel: "private-room", event: "news", data: "")
        #expect(calls == ["new: news"])
        #expect(new.subscribed)
        #expect(!old.subscribed)
        let refusal = try old.trigger(eventName: "client-e", data: [String: String]()).refusal()
        #expect(refusal.message == "private-room was unsubscribed; subscribing to it again gives a channel to trigger events on")
        #expect(new.trigger(eventName: "client-e", data: [String: String]()) == .sent)
    }

    @Test func `A closure is unbound only by its own ID and event name, and is then no longer called`() {
        let room = rig.pusher.subscribe("room")
        let kept = room.bind(eventName: "news", eventCallback: hear("kept"))
        let gone = room.bind(eventName: "news", eventCallback: hear("gone"))
        room.unbind(eventName: "news", callbackId: gone)
        room.unbind(eventName: "weather", callbackId: kept)
        room.unbind(eventName: "news", callbackId: "nobody's")
        let global = rig.pusher.bind(eventCallback: hear("client"))
        rig.pusher.unbind(callbackId: global)
        rig.socket.publish(channel: "room", event: "news", data: "")
        #expect(calls == ["kept: news"])
    }

    @Test func `The bindings of an event, a channel, or the client can be removed all at once`() {
        let room = rig.pusher.subscribe("room")
        for event in ["news", "weather"] { room.bind(eventName: event, eventCallback: hear("room")) }
        rig.pusher.bind(eventCallback: hear("client"))
        room.unbindAll(forEventName: "news")
        rig.socket.publish(channel: "room", event: "news", data: "")
        rig.socket.publish(channel: "room", event: "weather", data: "")
        room.unbindAll()
        rig.pusher.unbindAll()
        rig.socket.publish(channel: "room", event: "weather", data: "")
        #expect(calls == ["client: news", "client: weather", "room: weather"])
    }

    // Proves P6.3, P7.6.
    @Test func `The protocol's events can be bound under their public names, not their internal ones`() {
        let room = rig.pusher.subscribe("presence-room")
        room.unbindAll()
        rig.socket.drop()
        for event in ["pusher:subscription_succeeded", "pusher:member_added", "pusher_internal:subscription_succeeded"] {
            room.bind(eventName: event, eventCallback: hear("room"))
        }
        rig.scheduler.advance(by: .seconds(60))
        rig.socket.serverSends(
            #"{"event":"pusher_internal:member_added","channel":"presence-room","data":"{\"user_id\":\"bob\"}"}"#)
        #expect(calls.suffix(1) == ["room: pusher:member_added"])
        #expect(calls.first == "room: pusher:subscription_succeeded")
        #expect(!calls.contains("room: pusher_internal:subscription_succeeded"))
    }

    @Test func `A binding can subscribe, trigger an event, unsubscribe, and disconnect while it is called`() {
        let room = rig.pusher.subscribe("private-room")
        let pusher = rig.pusher
        room.bind(eventName: "news") { _ in
            pusher.subscribe("more")
            room.trigger(eventName: "client-seen", data: ["by": "ann"])
            pusher.unsubscribe("private-room")
        }
        pusher.bind { event in if event.eventName == "end" { pusher.disconnect() } }
        rig.socket.publish(channel: "private-room", event: "news", data: "")
        let sent = rig.socket.frames.suffix(3).map { "\($0.event ?? "") \($0.channel ?? "")" }
        #expect(sent == ["pusher:subscribe more", "client-seen private-room", "pusher:unsubscribe private-room"])
        #expect(pusher.connection.channels.find(name: "more")?.subscribed == true)
        rig.socket.publish(channel: "more", event: "end", data: "")
        #expect(pusher.connection.connectionState == .disconnected)
        // The closures capture the channel and the client that hold them: this breaks the cycles.
        room.unbindAll()
        pusher.unbindAll()
    }
}
