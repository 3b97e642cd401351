import TestSupport
import Testing

@testable import PusherChannels

@Suite struct ChannelObjectTests {
    private let rig = ClientRig.connected()

    @Test func `Subscribing again returns the channel object that the channel list has, until it is unsubscribed`() {
        let room = rig.pusher.subscribe("room")
        let presence = rig.pusher.subscribeToPresenceChannel(channelName: "presence-room")
        let channels = rig.pusher.connection.channels
        #expect(rig.pusher.subscribe("room") === room && channels.find(name: "room") === room)
        #expect(channels.channels["room"] == room)
        #expect(rig.pusher.subscribe("presence-room") === presence && channels.findPresence(name: "presence-room") === presence)
        #expect(channels.all.map(\.name) == ["presence-room", "room"])
        #expect(channels.find(name: "nowhere") == nil && channels.findPresence(name: "room") == nil)
        rig.pusher.unsubscribe("room")
        #expect(rig.pusher.subscribe("room") !== room)
        rig.pusher.unsubscribeAll()
        #expect(channels.all.isEmpty)
        #expect(rig.socket.frames.count { $0.event == "pusher:unsubscribe" } == 3)
    }

    @Test func `A channel object that nothing refers to is released, and subscribing makes another one`() {
        weak let room = rig.pusher.subscribe("room")
        #expect(room == nil)
        #expect(rig.pusher.subscribe("room").subscribed)
    }

    // Proves P7.6.
    @Test func `A presence channel's members and closures follow joins and leaves, and its closures can be replaced`() {
        let heard = Locked<[String]>([])
        @Sendable func hear(_ what: String) { heard.withLock { $0.append(what) } }
        func come(_ events: String...) {
            let data = #"{"user_id":"bob","user_info":{"age":7},"subscription_count":2}"#
            for event in events { rig.socket.serverSendsEvent("pusher_internal:\(event)", channel: "presence-room", data: data) }
        }
        rig.pusher.subscribe(
            "presence-room", onMemberAdded: { hear("+\($0.userID)") }, onMemberRemoved: { hear("-\($0.userID)") },
            onSubscriptionCountChanged: { hear("\($0)") })
        let room = rig.pusher.subscribeToPresenceChannel(channelName: "presence-room")
        come("member_added")
        #expect(room.members.map(\.userID) == ["46123.486095", "bob"])
        #expect(room["bob"]?.userInfo as? [String: Int] == ["age": 7])
        #expect(room["bob"]?.userInfo as? [String: Double] == ["age": 7])
        come("member_removed")
        #expect(room.count == 1)
        come("subscription_count")
        #expect(heard.withLock { $0 } == ["+bob", "-bob", "2"], "subscribing without closures has left them")

        room.onMemberAdded = { hear("added \($0.userID)") }
        room.onMemberRemoved = { hear("removed \($0.userID)") }
        room.onSubscriptionCountChanged = { hear("count \($0)") }
        come("member_added", "subscription_count")
        room.onMemberAdded = nil
        come("member_removed", "member_added")
        #expect(heard.withLock { $0.dropFirst(3) } == ["added bob", "count 2", "removed bob"])
        rig.pusher.unsubscribe("presence-room")
        room.onMemberAdded = { _ in }
        #expect(room.onMemberAdded == nil, "it is idle")
        let other = rig.pusher.subscribeToPresenceChannel(channelName: "presence-other", onMemberAdded: { _ in })
        #expect(other.onMemberAdded != nil && other.onMemberRemoved == nil && other.onSubscriptionCountChanged == nil)
    }

    @Test func `An authorization given with a subscription can be read until the connection uses it`() {
        let rig = ClientRig()
        let channel = rig.pusher.subscribe("private-room", auth: PusherAuth(auth: "key:signature"))
        #expect(channel.auth?.auth == "key:signature")
        #expect(channel.connection === rig.pusher.connection)
        rig.pusher.connect()
        #expect(channel.auth == nil)
    }
}
