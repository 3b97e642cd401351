import PusherChannels
import TestSupport
import Testing

/// Frames that no client should send, to every server: nothing traps, every connection is released, nothing stays behind.
struct HostileClientTests {
    private static let frames = [
        #"{"event":"pusher:ping","data":{}}"#, #"{"event":"pusher:pong","data":{}}"#,
        #"{"event":"pusher:subscribe","data":{"channel":"cache-a"}}"#,
        #"{"event":"pusher:subscribe","data":{"channel":"presence-a","auth":"k:s","channel_data":"{\"user_id\":\"ann\"}"}}"#,
        ##"{"event":"pusher:subscribe","data":{"channel":"#server-to-user-ann"}}"##,
        #"{"event":"pusher:unsubscribe","data":{"channel":"presence-a"}}"#,
        #"{"event":"pusher:signin","data":{"auth":"k:s","user_data":"{\"id\":\"ann\",\"watchlist\":[\"bob\",7]}"}}"#,
        #"{"event":"client-hi","channel":"presence-a","data":{"a":[1,2.5,"x"]}}"#, #"{"event":"pusher:what"}"#,
    ]

    @Test(arguments: ServerCase.all)
    func `Mutated frames don't make a server trap, and closed connections leave no members behind`(_ server: ServerCase) {
        var profile = server.profile
        // One message would be the end.
        if profile.answers[.noSubscriptionData] == .closing { profile.answers[.noSubscriptionData] = nil }
        var machine = ServerMachine(apps: [], admission: .anyKey(secret: nil), profile: profile)
        var mutation = Mutation(seed: 1)
        for number in 1...4 {
            machine.handle(.opened(.init(number), path: "/app/k?protocol=7"), at: .origin)
        }
        var replied = 0
        for index in 0..<5_000 {
            let text = String(decoding: mutation.next(of: Self.frames), as: UTF8.self)
            _ = machine.takeEffects()
            let id = ServerMachine.ConnectionID(index % 4 + 1)
            machine.handle(.received(text, from: id), at: .milliseconds(index))
            let effects = machine.takeEffects()
            if !effects.isEmpty { replied += 1 }
            for case .close(let closed, _, _) in effects {
                machine.handle(.opened(closed, path: "/app/k?protocol=7"), at: .milliseconds(index))
            }
        }
        #expect(replied > (profile.answers[.unreadable] == .nothing ? 100 : 2_000), "some servers ignore what they can't read")
        for number in 1...4 { machine.handle(.closed(.init(number)), at: .seconds(10)) }
        #expect(machine.openConnections.isEmpty)
        #expect(machine.subscribers(of: "presence-a").isEmpty)
        #expect(machine.members(of: "presence-a").isEmpty)
    }
}
