import TestSupport
import Testing

struct ServerSubscriptionTests {
    @Test(arguments: ["room", "private-room", "private-encrypted-room"])
    func `A subscription with the right signature succeeds`(channel: String) {
        var rig = ServerRig(open: 1)
        rig.subscribe(1, to: channel)
        #expect(rig.sent == [#"1: {"event":"pusher_internal:subscription_succeeded","channel":"\#(channel)","data":"{}"}"#])
        #expect(rig.machine.subscribers(of: channel) == [.init(1)])
    }

    @Test(
        arguments: [nil, "", "local-key", "other:00", "local-key:", "local-key:00"] as [String?],
        ["private-room", "private-encrypted-room"])
    func `A private channel refuses a wrong signature with 401`(auth: String?, channel: String) {
        var rig = ServerRig(open: 1)
        rig.receive(ServerRig.subscription(to: channel, auth: auth), from: 1)
        #expect(rig.subscriptionError?.type == "AuthError")
        #expect(rig.subscriptionError?.status == 401)
        #expect(rig.machine.subscribers(of: channel).isEmpty)
    }

    @Test func `A presence signature is valid only for the exact bytes of channel_data`() throws {
        var rig = ServerRig(open: 1)
        let auth = try Signature.channel(
            "presence-room", channelData: #"{"user_id":"a"}"#, socketID: "1.2", key: "local-key", secret: "local-secret")
        rig.receive(ServerRig.subscription(to: "presence-room", auth: auth, channelData: #"{"user_id": "a"}"#), from: 1)
        #expect(rig.subscriptionError?.message?.contains(#"1.2:presence-room:{"user_id": "a"}"#) == true)
    }

    @Test(arguments: [
        ("", "InvalidChannel"), ("with space", "InvalidChannel"), ("#room", "InvalidChannel"), ("private-ü", "InvalidChannel"),
        ("a/b", "InvalidChannel"), (String(repeating: "x", count: 165), "InvalidChannel"),
        ("_-=@,.;" + String(repeating: "x", count: 157), nil),
    ])
    func `A channel name has up to 164 letters, digits, and certain other characters`(channel: String, error: String?) {
        var rig = ServerRig(open: 1)
        rig.receive(ServerRig.subscription(to: channel), from: 1)
        #expect(rig.subscriptionError?.type == error)
        #expect(rig.machine.subscribers(of: channel).count == (error == nil ? 1 : 0))
    }

    @Test(arguments: [ServerProfile.hosted, .reverb, .soketi, .sockudo, .poxa])
    func `A long text sent by a client is not repeated in full in the server's answers`(profile: ServerProfile) {
        var rig = ServerRig(profile, open: 1)
        let long = String(repeating: "x", count: 1 << 18)
        for text in [
            ServerRig.subscription(to: long), ServerRig.subscription(to: "#server-to-user-\(long)"),
            ServerRig.subscription(to: "private-a", auth: long),
            ServerRig.subscription(to: "private-a", auth: "local-key:\(long)"),
            #"{"event":"pusher:unsubscribe","data":{"channel":"\#(long)"}}"#,
            #"{"event":"client-\#(long)","channel":"private-a","data":{}}"#,
            #"{"event":"client-a","channel":"private-\#(long)","data":{}}"#,
        ] {
            rig.receive(text, from: 1)
            #expect(rig.sent.count == 1 || profile != .hosted, "others ignore some")
            #expect(rig.sent.allSatisfy { $0.utf8.count < 1000 })
        }
    }

    @Test func `A second subscription is an error without a code, and changes nothing`() {
        var rig = ServerRig(open: 1)
        for _ in 1...2 { rig.subscribe(1, to: "room") }
        let message = "Existing subscription to channel room"
        #expect(rig.sent == [#"1: {"event":"pusher:error","data":{"code":null,"message":"\#(message)"}}"#])
        #expect(rig.machine.subscribers(of: "room").count == 1)
    }

    @Test func `Unsubscribing is not acknowledged, and the channel can be subscribed to again`() {
        var rig = ServerRig(open: 1)
        rig.subscribe(1, to: "room")
        rig.unsubscribe(1, from: "room")
        #expect(rig.sent.isEmpty)
        #expect(rig.machine.subscribers(of: "room").isEmpty)
        rig.subscribe(1, to: "room")
        #expect(rig.machine.subscribers(of: "room").count == 1)
    }

    @Test func `An event reaches the subscribers of its app and channel, in connection order`() {
        let other = ServerApp(id: "2", key: "other", secret: "s")
        var rig = ServerRig(ServerMachine(apps: [.local, other]))
        for number in [3, 1, 2] {
            rig.open(number)
            rig.subscribe(number, to: "room")
        }
        rig.open(4)
        rig.subscribe(4, to: "elsewhere")
        rig.open(5, path: "/app/other?protocol=7")
        rig.receive(ServerRig.subscription(to: "room"), from: 5)
        rig.publish("room", "e", #"{"a":1}"#, appKey: "local-key")
        #expect(rig.sent == (1...3).map { #"\#($0): {"event":"e","channel":"room","data":"{\"a\":1}"}"# })
        #expect(rig.effects.dropFirst(3) == [.notice(.published(channel: "room", event: "e", receivers: 3))])
        #expect(rig.machine.subscribers(of: "room").map(\.number) == [1, 2, 3, 5])
    }
}
