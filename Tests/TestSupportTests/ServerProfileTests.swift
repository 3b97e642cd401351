import PusherChannels
import TestSupport
import Testing

/// Each row of the table of differences, byte for byte.
struct ServerProfileTests {
    private func rig(_ profile: ServerProfile) -> ServerRig {
        var rig = ServerRig(ServerMachine(profile: profile, socketIDs: ["1.2", "3.4"]))
        rig.open(1)
        return rig
    }

    /// Returns the reply of each server, in the order of ``ServerProfile/byName``: hosted, Reverb, soketi, Sockudo, pusher-fake,
    /// pylon, ipe, poxa.
    private func replies(_ ask: (inout ServerRig) -> Void) -> [String] {
        ServerProfile.byName.map { _, profile in
            var rig = rig(profile)
            ask(&rig)
            return rig.sent.joined(separator: "\n")
        }
    }

    @Test func `The time-out for activity`() {
        #expect(ServerProfile.byName.map(\.value.activityTimeout) == [120, 30, 30, 120, 120, 120, 120, 120])
    }

    @Test func `The answer to a ping`() {
        let with = #"1: {"event":"pusher:pong","data":{}}"#
        let without = #"1: {"event":"pusher:pong"}"#
        let text = #"1: {"event":"pusher:pong","data":"{}"}"#
        #expect(
            replies { $0.receive(#"{"event":"pusher:ping"}"#, from: 1) }
                == [with, without, with, without, text, with, without, with])
    }

    @Test func `The success of a subscription`() {
        func success(_ data: String) -> String {
            #"1: {"event":"pusher_internal:subscription_succeeded","channel":"news"\#(data)}"#
        }
        let object = success(#","data":"{}""#)
        #expect(
            replies { $0.subscribe(1, to: "news") } == [
                object, object, success(""), object, object, success(#","data":"""#), object, object,
            ])
    }

    @Test func `The refusal of a subscription`() {
        let named =
            #"1: {"event":"pusher:subscription_error","channel":"private-a","data":{"error":"Auth info required to subscribe to private-a","status":401,"type":"AuthError"}}"#
        let text = #"Auth info required to subscribe to private-a"#
        #expect(
            replies { $0.receive(ServerRig.subscription(to: "private-a"), from: 1) } == [
                named, #"1: {"event":"pusher:error","data":"{\"code\":4009,\"message\":\"Connection is unauthorized\"}"}"#, named,
                #"1: {"event":"pusher:error","data":{"code":4009,"message":"\#(text)"}}"#,
                #"1: {"event":"pusher_internal:subscription_error","channel":"private-a","data":"{}"}"#, named,
                #"1: {"event":"pusher:error","data":{"code":null,"message":"Auth value for subscription to private-a is invalid"}}"#,
                #"1: {"event":"pusher:error","data":{"code":null,"message":"\#(text)"}}"#,
            ])
    }

    @Test func `An event that nobody knows`() {
        let refused = #"1: {"event":"pusher:error","data":"{\"code\":4200,\"message\":\"Invalid message format\"}"}"#
        #expect(replies { $0.receive(#"{"event":"pusher:what"}"#, from: 1) } == ["", refused, "", "", "", "", "", ""])
    }

    @Test func `An error about a channel`() {
        let codes = replies {
            $0.subscribe(1, to: "news")
            $0.subscribe(1, to: "news")
        }
        #expect(codes.map { $0.contains(#""channel":"news""#) } == [false, false, true, false, false, true, false, false])
    }

    @Test func `The members of a presence channel`() {
        func members(_ list: String) -> String {
            #"1: {"event":"pusher_internal:subscription_succeeded","channel":"presence-a","data":"{\"presence\":{\"count\":1,\"hash\":{\"ann\":\"Ann\"}\#(list)}}"}"#
        }
        let usual = members(#",\"ids\":[\"ann\"]"#)
        #expect(
            replies { $0.subscribe(1, to: "presence-a", as: "ann", info: "Ann") }
                == [usual, usual, usual, usual, members(""), usual, usual, usual])
    }

    @Test func `A client event whose data is a string`() {
        let codes = ServerProfile.byName.map { _, profile -> Int? in
            var rig = rig(profile)
            rig.subscribe(1, to: "private-a")
            rig.receive(#"{"event":"client-hi","channel":"private-a","data":"text"}"#, from: 1)
            return rig.error?.code
        }
        #expect(codes == [nil, 4200, nil, nil, nil, nil, nil, nil])
    }

    @Test func `Signing in`() {
        let events = replies { $0.signIn(1, as: "ann") }.map { reply in
            ["signin_success", "4200"].first { reply.contains($0) }
        }
        let yes = "signin_success"
        #expect(events == [yes, "4200", yes, yes, nil, yes, nil, nil])
    }

    @Test func `The end`() {
        let ends = ServerProfile.byName.map { _, profile -> [String] in
            var rig = rig(profile)
            rig.shutdown()
            return rig.closes + rig.sent
        }
        let plain = ["1: 1001 Server stopped"]
        let reason = "Server is closing. Please reconnect shortly."
        let announced = ["1: 4200 \(reason)", #"1: {"event":"pusher:error","data":{"code":4200,"message":"\#(reason)"}}"#]
        #expect(ends == [plain, plain, announced, plain, plain, plain, plain, plain])
    }
}
