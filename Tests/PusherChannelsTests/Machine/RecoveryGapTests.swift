import Testing

@testable import PusherChannels

/// When the gap of an event begins that a Sockudo server neither replays nor has in its history, and when there is none.
@Suite struct RecoveryGapTests {
    // Proves P19.12.
    @Test(arguments: ["unanswered", "refused", "out of sight"])
    func `The gap of a serial that stays missing began before the connection was lost`(end: String) {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.pass(.seconds(10))
        transcript.event(6)
        let since = transcript.now
        transcript.pass(.seconds(10))
        transcript.event(8)
        transcript.pass(.seconds(20))
        transcript.event(9)
        transcript.subscribeAgain(serial: 9, attach: 9)
        let outputs =
            switch end {
            case "refused":
                transcript.receive(
                    #"{"event":"sockudo:resume_success","data":"{\"recovered\":[],\"failed\":[{\"channel\":\"room\",\"code\":\"x\"}]}"}"#
                )
            case "unanswered": transcript.resumed() + transcript.pass(.milliseconds(300)) + transcript.pass(.seconds(30))
            default: transcript.resumed() + transcript.event(1_000)
            }
        #expect(outputs.gaps == [since])
        // What is missed later has nothing to do with it.
        transcript.event(2_000)
        transcript.pass(.seconds(60))
        let later = transcript.now
        transcript.event(2_001)
        transcript.pass(.seconds(1))
        transcript.event(2_003)
        transcript.pass(.milliseconds(300))
        #expect(transcript.pass(.seconds(30)).gaps == [later])
    }

    // Proves P19.12.
    @Test(arguments: ["unanswered", "out of sight", "followed by another stream", "followed by another stream in the replay"])
    func `The gap of a serial that a replay leaves out begins with the loss`(end: String) {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.pass(.seconds(10))
        transcript.event(6)
        let since = transcript.now
        transcript.pass(.seconds(10))
        transcript.subscribeAgain(serial: 8, attach: 8)
        var outputs = transcript.event(8)
        if end == "followed by another stream in the replay" { outputs += transcript.event(1, stream: "t") }
        outputs += transcript.resumed(upTo: 8)
        switch end {
        case "unanswered": outputs += transcript.pass(.milliseconds(300)) + transcript.pass(.seconds(30))
        case "out of sight": outputs += transcript.event(1_000)
        case "followed by another stream": outputs += transcript.event(1, stream: "t")
        default: break
        }
        #expect(outputs.told.contains("recovered 1"))
        #expect(outputs.gaps == [since])
        #expect(transcript.pass(.seconds(60)).gaps.isEmpty)
    }

    // Proves P19.12.
    @Test(arguments: [false, true])
    func `The gap of a serial far back in a large replay begins with the loss`(isReset: Bool) {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.pass(.seconds(10))
        transcript.event(6)
        let since = transcript.now
        transcript.pass(.seconds(10))
        transcript.subscribeAgain(serial: 500, attach: 500)
        for serial in 7...500 where serial != 8 { transcript.event(serial) }
        if isReset { transcript.event(1, stream: "t") }
        #expect(transcript.resumed(upTo: 500).gaps == [since])
    }

    // Proves P19.12, P19.18.
    @Test func `The gap of a serial that a past leaves out begins with the success`() {
        var transcript = Transcript.connected { $0.protocol = .sockudo }
        transcript.subscribe("room", options: SubscriptionOptions(rewind: .events(1)))
        transcript.succeed(serial: 5, attach: 5)
        let since = transcript.now
        transcript.pass(.seconds(10))
        transcript.event(7)
        transcript.pass(.seconds(10))
        transcript.receive(#"{"event":"sockudo:rewind_complete","channel":"room","data":{}}"#)
        #expect((transcript.pass(.milliseconds(300)) + transcript.pass(.seconds(30))).gaps == [since])
    }

    /// As on a client whose socket id a backend excludes from what it publishes.
    // Proves P19.12.
    @Test func `A gap doesn't begin with serials that were read, or found to be missing at the server, too`() {
        var transcript = Transcript.sockudo(attach: 5)
        var since = transcript.now
        for serial in stride(from: 7, through: 27, by: 2) {
            transcript.event(serial)
            transcript.pass(.milliseconds(300))
            since = transcript.now
            // The next one is missing before these are answered.
            transcript.event(serial + 2)
            transcript.history([serial])
        }
        transcript.pass(.milliseconds(300))
        let gaps = transcript.pass(.seconds(30)).gaps
        #expect(gaps.count == 1 && gaps[0] >= since - .milliseconds(600) && gaps[0] <= since, "\(gaps), not \(since)")
    }

    // Proves P19.12.
    @Test func `A gap that was told is over, whatever the next server keeps`() {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.event(7)
        transcript.pass(.seconds(10))
        transcript.subscribeAgain(serial: 2, attach: nil, stream: "t")
        let data = #"{\"recovered\":[],\"failed\":[{\"channel\":\"room\",\"code\":\"stream_reset\"}]}"#
        let refused = #"{"event":"sockudo:resume_success","data":"\#(data)"}"#
        #expect(transcript.receive(refused).gaps == [.origin])
        transcript.pass(.seconds(10))
        transcript.event(3, stream: "t")
        let since = transcript.now
        transcript.subscribeAgain(serial: 4, attach: nil, stream: "t")
        #expect(transcript.receive(refused).gaps == [since])
    }

    // Proves P19.12.
    @Test func `A history that is behind what was sent is asked again`() {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.event(9)
        transcript.pass(.milliseconds(300))
        for round in 1...5 {
            #expect(transcript.history([8]).told == (round == 1 ? ["8"] : []))
            #expect(transcript.pass(.milliseconds(299)).sent.isEmpty)
            #expect(transcript.pass(.milliseconds(1)).sent == [.history(channel: "room", serials: 6...9, cursor: nil)])
        }
        // Its order is its own.
        #expect(transcript.history([6, 9, 8]).told == ["6"])
        #expect(transcript.pass(.seconds(60)).withoutLogs.gaps.isEmpty)
    }

    // Proves P19.12.
    @Test func `A page that never comes is no gap if all that was missing came late`() {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.event(7)
        #expect(transcript.pass(.milliseconds(300)).sent.count == 1)
        #expect(transcript.event(6).told == ["6"])
        #expect(transcript.pass(.seconds(60)).gaps.isEmpty)
        transcript.event(9)
        #expect(transcript.pass(.milliseconds(300)).sent.count == 1)
    }
}
