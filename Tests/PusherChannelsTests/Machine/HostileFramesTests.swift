import Processes
import Testing

@testable import PusherChannels

/// A hundred thousand frames that no server should send: nothing traps, nothing grows, and nothing is lost silently.
@Suite struct HostileFramesTests {
    private static let frames =
        Frames.all + [
            #"{"event":"greet","channel":"private-encrypted-room","data":"{\"nonce\":\"AA==\",\"ciphertext\":\"AA==\"}"}"#,
            String.signInSuccess,
            ##"{"event":"note","channel":"#server-to-user-ann","data":"hi"}"##,
        ]

    private func connected() -> Transcript {
        var transcript = Transcript.connected()
        for channel: Name in ["room", "private-room", "presence-room", "cache-room", "private-encrypted-room"] {
            let auth = PusherAuth(auth: "k:s", channelData: #"{"user_id":"ann"}"#, sharedSecret: "secret")
            transcript.subscribe(channel, auth: auth)
            transcript.succeed(channel)
        }
        transcript.play(.signIn)
        return transcript
    }

    /// Indicates whether the frame is JSON with an event name, which the client must not ignore.
    private func isEvent(_ bytes: [UInt8]) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        return JSONValue(ifJSON: text)?["event"]?.stringValue != nil
    }

    // Proves P2.7, P2.8.
    @Test(arguments: 0..<10 as Range<UInt64>)
    func `Mutated frames end no connection, and JSON with an event name is always understood`(seed: UInt64) {
        var transcript = connected()
        var mutation = Mutation(seed: seed)
        let channels = transcript.machine.subscriptions.count
        for _ in 0..<10_000 {
            let bytes = mutation.next(of: Self.frames)
            let input = Transcript.input(bytes, transcript.attempt)
            switch input {
            case .receivedMalformed(.notJSON, _), .receivedMalformed(.notAnObject, _), .receivedMalformed(.missingEvent, _):
                #expect(!isEvent(bytes), "not understood: \(String(decoding: bytes, as: UTF8.self))")
            default: break
            }
            let outputs = transcript.play(input)
            for case .command(.authorize(let attempt, _)) in outputs {
                transcript.play(.authorized(attempt, .failure(AuthorizationFailure(message: "no"))))
            }
        }
        #expect(transcript.machine.state == .connected)
        #expect(transcript.machine.subscriptions.count <= channels + 1, "channels are what the user wants, and the user's own")
        #expect(transcript.machine.subscriptions["private-encrypted-room"]?.encryptedEvents?.stage != nil)
    }

    /// Adding a member costs the same for any number of members; copying the list would make the ratio a hundred.
    @Test func `Adding a presence member costs the same for any number of members`() {
        func cost(existing: Int) -> Double {
            var transcript = connected()
            func add(_ prefix: String, _ count: Int) {
                for number in 0..<count {
                    transcript.receive(
                        #"{"event":"pusher_internal:member_added","channel":"presence-room","data":{"user_id":"\#(prefix)\#(number)"}}"#
                    )
                }
            }
            add("old", existing)
            let began = ThreadTime.seconds()
            add("new", 1000)
            return ThreadTime.seconds() - began
        }
        let small = (0..<3).map { _ in cost(existing: 10) }.min() ?? 0
        let large = (0..<3).map { _ in cost(existing: 10_000) }.min() ?? 0
        #expect(large < small * 5)
    }
}
