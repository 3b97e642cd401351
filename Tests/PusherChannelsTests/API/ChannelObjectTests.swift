import TestSupport
import Testing

@testable import PusherChannels

@Suite struct ChannelObjectTests {
    private struct Account: Decodable, Equatable {
        let id: UInt64
    }

    @Test func `A member's information is decoded exactly as sent, so large integers are not rounded`() throws {
        let rig = ClientRig.unanswered()
        let lobby = rig.pusher.subscribeToPresenceChannel(channelName: "presence-lobby")
        let presence = #"{\"presence\":{\"count\":1,\"ids\":[\"ann\"],\"hash\":{\"ann\":{\"id\":18446744073709551615}}}}"#
        rig.socket.serverSends(
            #"{"event":"pusher_internal:subscription_succeeded","channel":"presence-lobby","data":"\#(presence)"}"#)
        let ann = try #require(lobby["ann"])
        #expect(try ann.decodeUserInfo() == Account(id: .max))
    }

    private let heard = Locked<[String]>([])
    private var calls: [String] { heard.withLock { $0 } }

    private static let memberAdded =
        #"{"event":"pusher_internal:member_added","channel":"presence-room","data":{"user_id":"bob"}}"#
    private static let count =
        #"{"event":"pusher_internal:subscription_count","channel":"presence-room","data":{"subscription_count":2}}"#

    @Test func `Subscribing again returns the same channel object until the channel is unsubscribed`() {
        let rig = ClientRig.connected()
        let room = rig.pusher.subscribe("room")
        let presence = rig.pusher.subscribeToPresenceChannel(channelName: "presence-room")
        #expect(rig.pusher.subscribe("room") === room)
        #expect(rig.pusher.connection.channels.find(name: "room") === room)
        #expect(rig.pusher.connection.channels.channels["room"] == room)
        #expect(rig.pusher.subscribe("presence-room") === presence)
        #expect(rig.pusher.connection.channels.findPresence(name: "presence-room") === presence)
        rig.pusher.unsubscribe("room")
        #expect(rig.pusher.subscribe("room") !== room)
    }

    @Test func `A channel object that nothing refers to is released, and subscribing makes another one`() {
        let rig = ClientRig.connected()
        weak let room = rig.pusher.subscribe("room")
        #expect(room == nil)
        #expect(rig.pusher.subscribe("room").subscribed)
    }

    @Test func `A presence channel's callbacks can be set, replaced, and removed while it is subscribed`() {
        let rig = ClientRig.connected()
        let channel = rig.pusher.subscribeToPresenceChannel(channelName: "presence-room") { [heard] member in
            heard.withLock { $0.append("first: \(member.userID)") }
        }
        #expect(channel.onMemberAdded != nil && channel.onMemberRemoved == nil && channel.onSubscriptionCountChanged == nil)
        channel.onMemberAdded = { [heard] member in heard.withLock { $0.append("added: \(member.userID)") } }
        channel.onMemberRemoved = { [heard] member in heard.withLock { $0.append("removed: \(member.userID)") } }
        channel.onSubscriptionCountChanged = { [heard] count in heard.withLock { $0.append("count: \(count)") } }
        rig.socket.serverSends(Self.memberAdded)
        rig.socket.serverSends(Self.count)
        channel.onMemberAdded = nil
        rig.socket.serverSends(Self.memberAdded.replacing("added", with: "removed"))
        rig.socket.serverSends(Self.memberAdded)
        #expect(calls == ["added: bob", "count: 2", "removed: bob"])
        rig.pusher.unsubscribe("presence-room")
        channel.onMemberAdded = { _ in }
        #expect(channel.onMemberAdded == nil, "it is idle")
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
