import TestSupport
import Testing

@testable import PusherChannels

/// Some servers count only the client's messages as activity, so they close a connection even while they send on it.
@Suite struct LivenessTests {
    private let event = #"{"event":"tick","channel":"room","data":"1"}"#

    // Proves P4.3.
    @Test func `A client that only receives sends a ping after three quarters of the activity time-out`() {
        var transcript = Transcript.connected(activityTimeout: 40)
        var sent: [Instant] = []
        for _ in 0..<400 {
            if transcript.pass(.seconds(1)).sent == [.ping] { sent.append(transcript.now) }
            transcript.receive(event)
        }
        #expect(sent == (1...13).map { .seconds($0 * 30) })
        #expect(transcript.machine.state == .connected)
    }

    // Proves P4.3.
    @Test func `Whatever the client sends postpones its next ping`() throws {
        let says: [(inout Transcript) -> Void] = [
            { $0.receive(#"{"event":"pusher:ping"}"#) },
            {
                $0.play(.subscribe(channel: "other", auth: nil)); $0.succeed("other")
            },
            { $0.play(.unsubscribe(channel: "private-room")) },
            { $0.play(.trigger(ClientEvent(name: "client-a", channel: "private-room", data: "1"))) },
            { transcript in
                let event = ClientEvent(name: "client-a", channel: "private-room", data: "1")
                #expect(transcript.trigger(event) == .sent)
            },
            {
                $0.play(.networkChanged); $0.receive(#"{"event":"pusher:pong"}"#)
            },
        ]
        for (number, say) in says.enumerated() {
            var transcript = Transcript.subscribed(to: "private-room", auth: PusherAuth(auth: "k:s"))
            transcript.pass(.seconds(80))
            transcript.receive(event)
            say(&transcript)
            #expect(transcript.pass(.seconds(89)).sent.isEmpty, "\(number)")
            #expect(transcript.pass(.seconds(1)).sent == [.ping], "\(number)")
        }
    }

    @Test func `A message answers a ping even if it arrives at the same time as one before the ping`() {
        var transcript = Transcript.connected()
        transcript.receive(event)
        #expect(transcript.play(.networkChanged).sent == [.ping])
        transcript.receive(event)
        transcript.pass(.seconds(60))
        #expect(transcript.machine.state == .connected, "the second message answered the ping")
    }

    @Test func `An error doesn't explain a close if another message came between, even at the same time`() {
        var transcript = Transcript.connected()
        transcript.receive(event)
        transcript.receive(#"{"event":"pusher:error","data":{"message":"no such channel","code":4009}}"#)
        transcript.receive(event)
        #expect(transcript.machine.session.lastServerError == nil)
    }
}
