import TestSupport
import Testing

struct ServerPresenceTests {
    @Test func `A user is added at the first join and removed at the last leave, over two connections`() {
        var rig = ServerRig(open: 3)
        rig.subscribe(1, to: "presence-room", as: "ann")
        #expect(
            rig.sent == [
                #"1: {"event":"pusher_internal:subscription_succeeded","channel":"presence-room","#
                    + #""data":"{\"presence\":{\"count\":1,\"hash\":{\"ann\":null},\"ids\":[\"ann\"]}}"}"#
            ])
        rig.subscribe(2, to: "presence-room", as: "bob")
        #expect(rig.sent.count == 2)
        #expect(
            rig.sent.last
                == #"1: {"event":"pusher_internal:member_added","channel":"presence-room","data":"{\"user_id\":\"bob\"}"}"#)
        rig.subscribe(3, to: "presence-room", as: "bob")
        #expect(rig.sent.count == 1, "Bob is there already")
        #expect(rig.machine.members(of: "presence-room") == ["ann", "bob"])

        rig.handle(.closed(.init(2)))
        #expect(rig.sent.isEmpty, "Bob is still there")
        rig.receive(#"{"event":"pusher:unsubscribe","data":{"channel":"presence-room"}}"#, from: 3)
        #expect(
            rig.sent
                == [#"1: {"event":"pusher_internal:member_removed","channel":"presence-room","data":"{\"user_id\":\"bob\"}"}"#])
        #expect(rig.machine.members(of: "presence-room") == ["ann"])
    }

    @Test func `User info comes with the member list and with member_added, and a numeric id as text`() throws {
        var rig = ServerRig(open: 2)
        for (number, socketID, data) in [
            (1, "1.2", #"{"user_id":10,"user_info":{"n":"A"}}"#), (2, "3.4", #"{"user_id":"b","user_info":[1]}"#),
        ] {
            let auth = try Signature.channel(
                "presence-x", channelData: data, socketID: socketID, key: "local-key", secret: "local-secret")
            rig.receive(ServerRig.subscription(to: "presence-x", auth: auth, channelData: data), from: number)
        }
        #expect(
            rig.sent == [
                #"2: {"event":"pusher_internal:subscription_succeeded","channel":"presence-x","data":"#
                    + #""{\"presence\":{\"count\":2,\"hash\":{\"10\":{\"n\":\"A\"},\"b\":[1]},\"ids\":[\"10\",\"b\"]}}"}"#,
                #"1: {"event":"pusher_internal:member_added","channel":"presence-x","data":"#
                    + #""{\"user_id\":\"b\",\"user_info\":[1]}"}"#,
            ])
    }

    @Test(arguments: [nil, "{}", "nonsense", #"{"user_id":""}"#, #"{"user_id":null}"#])
    func `A presence subscription without a user id is refused`(channelData: String?) throws {
        var rig = ServerRig(open: 1)
        let auth = try Signature.channel(
            "presence-x", channelData: channelData, socketID: "1.2", key: "local-key", secret: "local-secret")
        rig.receive(ServerRig.subscription(to: "presence-x", auth: auth, channelData: channelData), from: 1)
        #expect(rig.subscriptionError?.type == "AuthError")
    }

    @Test func `A full presence channel refuses new users, but not a member's second connection`() {
        var profile = ServerProfile.hosted
        profile.maximumPresenceMembers = 2
        var rig = ServerRig(ServerMachine(profile: profile), open: 4)
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
