import TestSupport
import Testing

struct ServerPresenceTests {
    private func frame(_ event: String, _ data: String, to connection: Int = 1) -> String {
        #"\#(connection): {"event":"pusher_internal:\#(event)","channel":"presence-room","data":"\#(data)"}"#
    }

    @Test func `A user is added at the first join and removed at the last leave, over two connections`() {
        var rig = ServerRig(open: 3)
        rig.subscribe(1, to: "presence-room", as: "ann")
        let members = #"{\"presence\":{\"count\":1,\"hash\":{\"ann\":null},\"ids\":[\"ann\"]}}"#
        #expect(rig.sent == [frame("subscription_succeeded", members)])
        rig.subscribe(2, to: "presence-room", as: "bob")
        #expect(rig.sent.dropFirst() == [frame("member_added", #"{\"user_id\":\"bob\"}"#)])
        rig.subscribe(3, to: "presence-room", as: "bob")
        #expect(rig.sent.count == 1, "Bob is there already")
        #expect(rig.machine.members(of: "presence-room") == ["ann", "bob"])

        rig.handle(.closed(.init(2)))
        #expect(rig.sent.isEmpty, "Bob is still there")
        rig.unsubscribe(3, from: "presence-room")
        #expect(rig.sent == [frame("member_removed", #"{\"user_id\":\"bob\"}"#)])
        #expect(rig.machine.members(of: "presence-room") == ["ann"])
    }

    @Test func `User info comes with the member list and with member_added, and a numeric id as text`() {
        var rig = ServerRig(open: 2)
        rig.subscribe(1, to: "presence-room", channelData: #"{"user_id":10,"user_info":{"n":"A"}}"#)
        rig.subscribe(2, to: "presence-room", channelData: #"{"user_id":"b","user_info":[1]}"#)
        let members = #"{\"presence\":{\"count\":2,\"hash\":{\"10\":{\"n\":\"A\"},\"b\":[1]},\"ids\":[\"10\",\"b\"]}}"#
        let added = frame("member_added", #"{\"user_id\":\"b\",\"user_info\":[1]}"#)
        #expect(rig.sent == [frame("subscription_succeeded", members, to: 2), added])
    }

    @Test(arguments: [nil, "{}", "nonsense", #"{"user_id":""}"#, #"{"user_id":null}"#])
    func `A presence subscription without a user id is refused`(channelData: String?) {
        var rig = ServerRig(open: 1)
        rig.subscribe(1, to: "presence-x", channelData: channelData)
        #expect(rig.subscriptionError?.type == "AuthError")
    }

    @Test func `A full presence channel refuses new users, but not a member's second connection`() {
        var rig = ServerRig(.hosted, open: 4) { $0.maximumPresenceMembers = 2 }
        rig.subscribe(1, to: "presence-x", as: "a")
        rig.subscribe(2, to: "presence-x", as: "b")
        rig.subscribe(3, to: "presence-x", as: "c")
        #expect(rig.subscriptionError?.type == "LimitReached")
        rig.subscribe(4, to: "presence-x", as: "b")
        #expect(rig.machine.subscribers(of: "presence-x").map(\.number) == [1, 2, 4])
    }

    @Test func `A connection that closes leaves all its channels`() {
        var rig = ServerRig(open: 2)
        for channel in ["presence-a", "presence-b"] {
            rig.subscribe(1, to: channel, as: "ann")
            rig.subscribe(2, to: channel, as: "bob")
        }
        rig.handle(.closed(.init(1)))
        #expect(rig.sent.count == 2)
        #expect(rig.effects.last == .notice(.disconnected(.init(1))))
        rig.handle(.closed(.init(1)))
        #expect(rig.effects.isEmpty)
    }
}
