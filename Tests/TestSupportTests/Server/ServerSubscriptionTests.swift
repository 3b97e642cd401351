import TestSupport
import Testing

struct ServerSubscriptionTests {
    @Test(arguments: ["room", "private-room", "private-encrypted-room"])
    func `A subscription with the right signature succeeds`(channel: String) {
        var rig = ServerRig(open: 1)
        rig.subscribe(1, to: channel)
        #expect(
            rig.sent == ["1: {\"event\":\"pusher_internal:subscription_succeeded\",\"channel\":\"\(channel)\",\"data\":\"{}\"}"])
        #expect(rig.machine.subscribers(of: channel) == [.init(1)])
    }

    /// Test vectors from the protocol's documentation and from independent implementations.
    @Test(arguments: [
        (
            "278d425bdf160c739803", "7ad3773142a6692b25b8", "1234.1234", "private-foobar", String?.none,
            "58df8b0c36d6982b82c3ecf6b4662e34fe8c25bba48f5369f135bf843651c3a4"
        ),
        (
            "278d425bdf160c739803", "7ad3773142a6692b25b8", "1234.1234", "presence-foobar",
            #"{"user_id":10,"user_info":{"name":"Mr. Channels"}}"#,
            "31935e7d86dba64c2a90aed31fdc61869f9b22ba9d8863bba239c03ca481bc80"
        ),
        ("key", "s3cret", "1.2", "private-a", nil, "7892e0c10b8b3ccf90cb037eafd38d103f3347cfe46f4bb9950a729d2748e1b1"),
        (
            "key", "s3cret", "1.2", "private-encrypted-a", nil,
            "5ba9fa89b78c09c1d0b9e7de1ee9af1dee5974997bf059619deeded4bdb15427"
        ),
        (
            "key", "s3cret", "1.2", "presence-a", #"{"user_id":"u1","user_info":{"n":"A"}}"#,
            "019e1b5296e8f7d6040698ea6c399f0ad35a0d5190e0c5c6fb683deff8e29765"
        ),
    ])
    func `Known signatures are accepted, and a change of one digit is refused`(
        key: String, secret: String, socketID: String, channel: String, channelData: String?, hex: String
    ) {
        let app = ServerApp(id: "3", key: key, secret: secret)
        var rig = ServerRig(ServerMachine(apps: [app], socketIDs: [socketID]))
        rig.open(1, path: "/app/\(key)?protocol=7")
        let wrong = hex.dropLast() + (hex.hasSuffix("0") ? "1" : "0")
        rig.receive(ServerRig.subscription(to: channel, auth: "\(key):\(wrong)", channelData: channelData), from: 1)
        #expect(rig.subscriptionError?.status == 401)
        rig.receive(ServerRig.subscription(to: channel, auth: "\(key):\(hex)", channelData: channelData), from: 1)
        #expect(rig.subscriptionError == nil)
        #expect(rig.machine.subscribers(of: channel) == [.init(1)])
    }

    @Test(arguments: [nil, "", "local-key", "other:00", "local-key:", "local-key:00"])
    func `A private channel refuses a wrong signature with 401`(auth: String?) {
        var rig = ServerRig(open: 1)
        rig.receive(ServerRig.subscription(to: "private-room", auth: auth), from: 1)
        #expect(rig.subscriptionError?.type == "AuthError")
        #expect(rig.subscriptionError?.status == 401)
        #expect(rig.machine.subscribers(of: "private-room").isEmpty)
    }

    @Test func `A presence signature is valid only for the exact bytes of channel_data`() throws {
        var rig = ServerRig(open: 1)
        let auth = try Signature.channel(
            "presence-room", channelData: #"{"user_id":"a"}"#, socketID: "1.2", key: "local-key", secret: "local-secret")
        rig.receive(ServerRig.subscription(to: "presence-room", auth: auth, channelData: #"{"user_id": "a"}"#), from: 1)
        #expect(rig.subscriptionError?.message?.contains("1.2:presence-room:{\"user_id\": \"a\"}") == true)
        rig.receive(ServerRig.subscription(to: "presence-room", auth: auth, channelData: #"{"user_id":"a"}"#), from: 1)
        #expect(rig.machine.members(of: "presence-room") == ["a"])
    }

    @Test(arguments: ["", "with space", "#room", "private-ü", "a/b", String(repeating: "x", count: 165)])
    func `A subscription to an invalid channel name is refused`(channel: String) {
        var rig = ServerRig(open: 1)
        rig.receive(ServerRig.subscription(to: channel), from: 1)
        #expect(rig.subscriptionError?.type == "InvalidChannel")
    }

    @Test(arguments: [ServerProfile.hosted, .reverb, .soketi, .sockudo, .poxa])
    func `A long text sent by a client is not repeated in full in the server's answers`(profile: ServerProfile) {
        var rig = ServerRig(ServerMachine(profile: profile, socketIDs: ["1.2"]), open: 1)
        let long = String(repeating: "x", count: 1 << 18)
        for text in [
            ServerRig.subscription(to: long), ServerRig.subscription(to: "#server-to-user-\(long)"),
            ServerRig.subscription(to: "private-a", auth: long),
            ServerRig.subscription(to: "private-a", auth: "local-key:\(long)"),
            "{\"event\":\"pusher:unsubscribe\",\"data\":{\"channel\":\"\(long)\"}}",
            "{\"event\":\"client-\(long)\",\"channel\":\"private-a\",\"data\":{}}",
            "{\"event\":\"client-a\",\"channel\":\"private-\(long)\",\"data\":{}}",
        ] {
            rig.receive(text, from: 1)
            #expect(rig.sent.count == 1 || profile != .hosted, "others ignore some")
            #expect(rig.sent.allSatisfy { $0.utf8.count < 1000 })
        }
    }

    @Test func `The longest channel name with all special characters is accepted`() {
        var rig = ServerRig(open: 1)
        let channel = "_-=@,.;" + String(repeating: "x", count: 157)
        rig.receive(ServerRig.subscription(to: channel), from: 1)
        #expect(rig.machine.subscribers(of: channel).count == 1)
    }

    @Test func `A second subscription is an error without a code, and changes nothing`() {
        var rig = ServerRig(open: 1)
        rig.subscribe(1, to: "room")
        rig.subscribe(1, to: "room")
        #expect(
            rig.sent == [#"1: {"event":"pusher:error","data":{"code":null,"message":"Existing subscription to channel room"}}"#])
        #expect(rig.machine.subscribers(of: "room").count == 1)
    }

    @Test func `Unsubscribing is not acknowledged, and the channel can be subscribed to again`() {
        var rig = ServerRig(open: 1)
        rig.subscribe(1, to: "room")
        rig.receive(#"{"event":"pusher:unsubscribe","data":{"channel":"room"}}"#, from: 1)
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
        _ = rig.machine.takeEffects()
        rig.machine.publish(channel: "room", event: "e", data: #"{"a":1}"#, appKey: "local-key")
        let frame = #"{"event":"e","channel":"room","data":"{\"a\":1}"}"#
        #expect(
            rig.machine.takeEffects() == [1, 2, 3].map { .send(frame, to: .init($0)) } + [
                .notice(.published(channel: "room", event: "e", receivers: 3))
            ])
        #expect(rig.machine.subscribers(of: "room").map(\.number) == [1, 2, 3, 5])
    }
}
