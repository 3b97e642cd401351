import PusherChannels
import TestSupport
import Testing

struct ServerClientEventTests {
    private func rig(channel: String, users: [String?]) -> ServerRig {
        var rig = ServerRig()
        for (index, user) in users.enumerated() {
            rig.open(index + 1)
            rig.subscribe(index + 1, to: channel, as: user)
        }
        return rig
    }

    @Test func `A client event reaches the others, not its sender, and says on presence channels who sent it`() {
        var rig = rig(channel: "presence-room", users: ["ann", "bob", "cid"])
        rig.receive(#"{"event":"client-typing","channel":"presence-room","data":{"b":1.0,"a":2}}"#, from: 2)
        let frame = #"{"event":"client-typing","channel":"presence-room","data":"{\"b\":1.0,\"a\":2}","user_id":"bob"}"#
        #expect(rig.sent == ["1: \(frame)", "3: \(frame)"])
    }

    @Test func `On private channels nobody is named; a string stays the string it is`() {
        var rig = rig(channel: "private-room", users: [nil, nil])
        rig.receive(#"{"event":"client-typing","channel":"private-room","data":"plain \"text\""}"#, from: 1)
        #expect(rig.sent == [#"2: {"event":"client-typing","channel":"private-room","data":"plain \"text\""}"#])
        rig.receive(#"{"event":"client-typing","channel":"private-room"}"#, from: 1)
        #expect(rig.sent == [#"2: {"event":"client-typing","channel":"private-room"}"#])
    }

    @Test(arguments: ["room", "private-encrypted-room"])
    func `Public and encrypted channels carry none`(channel: String) {
        var rig = rig(channel: channel, users: [nil, nil])
        rig.receive("{\"event\":\"client-typing\",\"channel\":\"\(channel)\",\"data\":{}}", from: 1)
        #expect(rig.error?.code == 4301)
        #expect(rig.sent.count == 1)
    }

    @Test(arguments: [
        #"{"event":"client-typing","channel":"private-elsewhere","data":{}}"#, #"{"event":"client-typing","data":{}}"#,
        #"{"event":"typing","channel":"private-room","data":{}}"#,
    ])
    func `A sender that isn't subscribed, no channel and a bad name are rejected`(text: String) {
        var rig = rig(channel: "private-room", users: [nil, nil])
        rig.receive(text, from: 1)
        #expect(rig.error?.code == 4301)
        #expect(rig.sent.count == 1)
    }

    @Test func `Ten kilobytes are passed on, a byte more is not`() {
        var rig = rig(channel: "private-room", users: [nil, nil])
        for (length, code) in [(10_240, nil), (10_241, 4301)] {
            let data = String(repeating: "x", count: length)
            rig.receive("{\"event\":\"client-e\",\"channel\":\"private-room\",\"data\":\"\(data)\"}", from: 1)
            #expect(rig.error?.code == code)
        }
    }
}
