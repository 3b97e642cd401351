import TestSupport
import Testing

@testable import PusherChannels

/// What a Sockudo server can't or won't replay is a gap, as on protocol 7, and the channel goes on. Nothing is asked for twice in vain.
@Suite struct RecoveryLimitTests {
    private func waiting(attach: Int? = 8, _ change: (inout ConnectionMachine.Configuration) -> Void = { _ in }) -> Transcript {
        var transcript = Transcript.sockudo(attach: attach == nil ? nil : 5, change)
        if attach == nil { transcript.resumed() }
        transcript.event(6)
        transcript.subscribeAgain(serial: 8, attach: attach)
        return transcript
    }

    private let asked: ClientMessage = .replay(after: 6)

    // MARK: Refusals

    // Proves P19.9.
    @Test(
        arguments: [
            ("stream_reset", 8), ("persistence_unavailable", nil), ("nonsense", nil), ("continuity_unverifiable", nil),
            ("version_stream_id_mismatch", 8),
        ] as [(String, Int?)])
    func `A refused replay reports a gap, and the channel goes on from its new position`(code: String, attach: Int?) {
        var transcript = waiting(attach: attach)
        transcript.event(9)
        let outputs = transcript.refuse(code, current: "s")
        #expect(outputs.told == ["gap", "success", "subscribed", "9"])
        #expect(outputs.contains(.log(.notRecovered("room", problem: "\(code): r"))))
        #expect(transcript.event(10).told == ["10"])
        #expect(transcript.subscribeAgain(serial: 10, attach: attach).sent == [.replay(after: 10)])
    }

    // Proves P19.9.
    @Test func `A stream position whose replay was refused is never asked for again`() {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.subscribeAgain(serial: 5, attach: 5)
        #expect(transcript.refuse("stream_reset").told.first == "gap")
        let again = transcript.subscribeAgain(serial: 5, attach: 5)
        #expect(again.sent.isEmpty && again.told.first == "gap")
        #expect(transcript.subscribeAgain(serial: 6, attach: 6).sent.count == 1, "the next success has another one")
    }

    /// These refusals are wrong for a moment: of a store that is behind what was sent, and of a race.
    // Proves P19.8.
    @Test(
        arguments: [
            ("continuity_unverifiable", 8, 300, 5), ("position_expired", nil, 100, 1), ("version_stream_id_mismatch", 8, 100, 1),
        ] as [(String, Int?, Int, Int)])
    func `A replay refused in passing is asked for again before it is a gap`(code: String, attach: Int?, pause: Int, times: Int) {
        var transcript = waiting(attach: attach)
        for _ in 0..<times {
            #expect(transcript.refuse(code).told.isEmpty)
            #expect(transcript.pass(.milliseconds(pause - 1)).sent.isEmpty)
            #expect(transcript.pass(.milliseconds(1)).sent == [asked])
        }
        #expect(transcript.refuse(code).told.first == "gap")
    }

    // Proves P19.8.
    @Test func `A replay that is granted at the second request delivers the missed events in order`() {
        var transcript = waiting()
        transcript.refuse("continuity_unverifiable")
        transcript.event(9)
        transcript.pass(.milliseconds(300))
        transcript.events(7, 8)
        #expect(transcript.resumed(upTo: 8).told == ["7", "8", "recovered 2", "success", "subscribed", "9"])
    }

    // Proves P19.8.
    @Test func `A connection lost before a refused replay is retried keeps the channel's position`() {
        var transcript = waiting()
        transcript.refuse("continuity_unverifiable")
        transcript.event(9)
        #expect(transcript.subscribeAgain(serial: 9, attach: 9).sent == [asked])
        transcript.resumed(upTo: 9)
        #expect(transcript.machine.recovery.heldBytes == 0)
    }

    // MARK: Servers that don't answer

    // Proves P19.10.
    @Test func `An unanswered replay request reports a gap and is the last one on its connection`() {
        var transcript = waiting()
        transcript.event(9)
        #expect(transcript.pass(.seconds(30)).told == ["gap", "success", "subscribed", "9"])
        transcript.subscribe("other")
        let other = transcript.succeed("other", serial: 1, attach: nil)
        #expect(other.sent.isEmpty && other.told.contains("gap"))
        #expect(transcript.event(7).told == ["7"], "it may come late")
        #expect(transcript.resumed(upTo: 7).told.isEmpty)
        #expect(transcript.subscribeAgain(serial: 9, attach: 9).sent.count == 1)
    }

    // Proves P19.10.
    @Test(arguments: [
        #"{"code":4301,"message":"Connection recovery is not enabled"}"#,
        #"{"code":4302,"message":"No channel recovery positions provided"}"#,
        #"{"code":4000,"message":"Invalid message format: Invalid resume data JSON"}"#,
    ]) func `A sockudo:error instead of an answer to a replay request reports a gap`(data: String) {
        var transcript = waiting()
        let told = transcript.receive(#"{"event":"sockudo:error","data":\#(data)}"#).told
        #expect(told.contains("gap") && told.last == "subscribed")
    }

    // Proves P19.10.
    @Test(arguments: [
        #"{"code":4301,"message":"Client event error: Socket 1.2 is not subscribed to channel private-nosub"}"#,
        #"{"code":4302,"message":"Watchlist error"}"#, #"{"code":4000,"message":"Invalid message format"}"#,
    ]) func `An error that isn't about a replay leaves the one that is awaited`(data: String) {
        var transcript = waiting()
        #expect(transcript.receive(#"{"event":"sockudo:error","data":\#(data)}"#).told.contains("gap") == false)
        #expect(transcript.machine.state == .connected, "an error's 4000 closes nothing here")
        transcript.events(7, 8)
        #expect(transcript.resumed(upTo: 8).told == ["7", "8", "recovered 2", "success", "subscribed"])
    }

    // Proves P19.10.
    @Test func `A connection lost before a replay's answer is a gap, and after two no replay is requested`() {
        var transcript = waiting()
        transcript.event(7)
        let told = transcript.close(1006).told
        #expect(told.prefix(2) == ["gap", "7"])
        #expect(Set(told).isDisjoint(with: ["success", "subscribed"]), "the success is told no more")
        transcript.passToDeadline()
        transcript.establish()
        #expect(transcript.succeed(serial: 8, attach: 8).sent == [.replay(after: 8)], "of the success, not the one before")
        transcript.event(9)
        let third = transcript.subscribeAgain(serial: 9, attach: 9)
        #expect(third.sent.isEmpty, "after two in a row, one connection goes without")
        #expect(transcript.event(10).told == ["10"])
        #expect(transcript.subscribeAgain(serial: 10, attach: 10).sent.count == 1)
    }

    // Proves P19.10.
    @Test func `A user who disconnects before a replay's answer is told the gap, and no success`() {
        var transcript = waiting()
        transcript.event(7)
        #expect(transcript.play(.disconnect).told.dropFirst() == ["gap", "7"], "after the state")
    }

    // Proves P9.6, P19.10.
    @Test func `A user's channel whose connection is lost during its replay reports the gap, and holds nothing`() throws {
        let own: Name = "#server-to-user-ann"
        var transcript = Transcript.sockudo(attach: 5)
        try transcript.authorizeUser(transcript.play(.signIn))
        transcript.receive(.signInSuccess)
        transcript.succeed(own, serial: 1, attach: 1)
        #expect(transcript.succeed(own, serial: 2, attach: 2).sent.count == 1, "a replay is asked for")
        #expect(transcript.close(1006).told.filter { !$0.hasPrefix("stateChanged") } == ["gap"])
        #expect(transcript.machine.recovery.heldBytes == 0)
        transcript.passToDeadline()
        try transcript.authorizeUser(transcript.establish())
        transcript.receive(.signInSuccess)
        #expect(transcript.succeed(own, serial: 4, attach: 4).told == ["success", "subscribed"], "and not those before it")
        #expect(transcript.machine.recovery.heldBytes == 0)
    }

    // Proves P9.6, P19.3.
    @Test func `A user's channel whose success has no position is asked for no replay, and reports a gap`() throws {
        let own: Name = "#server-to-user-ann"
        var transcript = Transcript.connected { $0.protocol = .sockudo }
        var request = transcript.play(.signIn)
        for gaps in 0...1 {
            try transcript.authorizeUser(request)
            let signedIn = transcript.receive(.signInSuccess)
            let outputs = transcript.succeed(own, serial: nil, attach: nil)
            #expect((signedIn + outputs).gaps.count == gaps)
            #expect(outputs.sent.isEmpty && outputs.told.suffix(2) == ["success", "subscribed"])
            request = transcript.reconnect()
        }
    }

    @Test func `A second success while a replay is awaited reports a gap`() {
        var transcript = waiting()
        #expect(transcript.succeed(serial: 8, attach: 8).told.first == "gap")
    }

    @Test func `A channel refused while its replay is awaited keeps its position`() {
        var transcript = waiting()
        transcript.event(7)
        transcript.receiveRefusal(of: "room", status: 503)
        #expect(transcript.machine.recovery.heldBytes == 0)
        transcript.pass(.seconds(2))
        transcript.resumed(upTo: 8)
        #expect(transcript.succeed(serial: 8, attach: 8).sent == [asked])
    }

    // MARK: The history

    // Proves P19.11.
    @Test func `Events that are too many for one replay are read from the server's history, page by page`() {
        var transcript = Transcript.sockudo(attach: 5)
        let first = transcript.subscribeAgain(serial: 1_000, attach: 999)
        #expect(first.sent == [.history(channel: "room", serials: 6...999, cursor: nil)])
        transcript.event(1_001)
        let page = transcript.history([6, 7], cursor: "c")
        #expect(page.told == ["6", "7"])
        #expect(page.sent == [.history(channel: "room", serials: 6...999, cursor: "c")])
        #expect(transcript.history([998, 999]).sent == [.replay(after: 999)], "the rest")
        transcript.event(1_000)
        #expect(transcript.resumed(upTo: 1_000).told == ["1000", "recovered 5", "success", "subscribed", "1001"])
    }

    @Test func `A history page with another channel's events is rejected, and a gap is reported`() {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.subscribe("other")
        transcript.succeed("other", serial: 0, attach: 0)
        transcript.subscribeAgain(serial: 1_000, attach: 999)
        let told = transcript.history([6, 7], of: "other").told
        #expect(told.contains("gap") && !told.contains("6"), "\(told)")
    }

    // Proves P19.11.
    @Test func `Events that the replay buffer no longer has are read from the history`() {
        var transcript = waiting()
        #expect(transcript.refuse("position_expired").sent == [.history(channel: "room", serials: 7...8, cursor: nil)])
        transcript.history([7, 8])
        #expect(transcript.resumed().told.contains("recovered 2"))
    }

    // Proves P19.11.
    @Test func `On a server without a history, a loss too large for a replay is a gap`() {
        var transcript = Transcript.sockudo(attach: nil)
        transcript.resumed()
        let outputs = transcript.subscribeAgain(serial: 905, attach: nil)
        #expect(outputs.sent.isEmpty && outputs.told.first == "gap")
    }

    // Proves P19.11.
    @Test(arguments: ["incomplete", "of another stream", "without end", "nonsense", "none"])
    func `A channel whose history is incomplete, unusable, or never sent reports one gap`(kind: String) {
        var transcript = waiting()
        transcript.refuse("position_expired")
        let outputs =
            switch kind {
            case "incomplete": transcript.history([8], complete: false)
            case "of another stream": transcript.history([7, 8], stream: "other")
            case "without end": transcript.history([5], cursor: "again") + transcript.history([5], cursor: "again")
            case "nonsense":
                transcript.receive(#"{"event":"sockudo:channel_history","channel":"room","data":{"items":[{"message":7}]}}"#)
            default: transcript.pass(.seconds(30))
            }
        #expect(outputs.told.count { $0 == "gap" } == 1 && outputs.told.contains("subscribed"))
        #expect(transcript.event(9).told == ["9"])
    }

    // MARK: Nonsense

    /// Two nodes without a history in common count for themselves, and replay only their own events.
    // Proves P19.13.
    @Test func `After an event of another stream, every reconnect reports a gap and requests no replay`() {
        var transcript = Transcript.sockudo(attach: nil)
        transcript.resumed()
        #expect(transcript.event(3, stream: "other").events == ["e"])
        for _ in 0..<2 {
            let outputs = transcript.subscribeAgain(serial: 5, attach: nil)
            #expect(outputs.sent.isEmpty && outputs.told.first == "gap")
        }
    }

    // Proves P19.14.
    @Test func `Events held during a replay are limited in bytes, and a gap is reported beyond that`() {
        var transcript = waiting { $0.heldEventByteLimit = 1_128 }  // The success counts, too.
        for serial in 7..<14 { #expect(transcript.event(serial).told.isEmpty) }
        let told = transcript.event(14).told
        #expect(told.first == "gap" && told.last == "14")
        #expect(transcript.machine.recovery.heldBytes == 0)
        #expect(transcript.events(15, 9).told == ["15"], "the replay goes on")
        #expect(transcript.resumed(upTo: 15).told.isEmpty)
    }

    // Proves P19.14.
    @Test func `The member list of a channel that waits for a replay counts as held`() {
        var transcript = waiting { $0.heldEventByteLimit = 1_000 }
        transcript.reconnect()
        let members = String(repeating: "m", count: 1_000)
        let outputs = transcript.receive(
            #"{"event":"sockudo_internal:subscription_succeeded","channel":"room","data":"{\"attach_serial\":9,\"m\":\"\#(members)\"}","stream_id":"s","serial":9}"#
        )
        #expect(outputs.sent.isEmpty && outputs.told.first == "gap")
        #expect(transcript.machine.recovery.heldBytes == 0)
    }

    // Proves P19.14.
    @Test func `A channel that succeeds again and again waits for one replay`() {
        var transcript = Transcript.sockudo(attach: nil)
        for _ in 0..<5 { transcript.succeed(serial: 5, attach: nil) }
        #expect(transcript.machine.recovery.waiting.count == 1)
        #expect(transcript.resumed(upTo: 5).sent == [.replay(after: 5)])
        #expect(transcript.machine.recovery.waiting.isEmpty)
    }

    // Proves P19.15.
    @Test(arguments: ["-1", "1.5", "99999999999999999999", "null", "[]", #""x""#])
    func `An event with an invalid serial is delivered as an event without one`(serial: String) {
        var transcript = Transcript.sockudo(attach: 5)
        let frame = #"{"event":"e","channel":"room","data":"x","stream_id":"s","serial":\#(serial)}"#
        for _ in 1...2 { #expect(transcript.receive(frame).events == ["e"]) }
        #expect(transcript.subscribeAgain(serial: 5, attach: 5).sent == [.replay(after: 5)])
    }

    // Proves P19.15.
    @Test func `An event whose serial goes far back is delivered, and the next reconnect reports a gap`() {
        var transcript = Transcript.sockudo(attach: nil)
        transcript.resumed()
        transcript.event(Int.max)
        #expect(transcript.events(6, 6).told == ["6", "6"])
        #expect(transcript.subscribeAgain(serial: 7, attach: nil).told.first == "gap")
    }

    @Test func `Recovery answers that the client didn't ask for change nothing`() {
        var transcript = Transcript.sockudo(attach: 5)
        #expect(transcript.resumed(upTo: 99).isEmpty)
        #expect(transcript.history([6, 7]).isEmpty)
        #expect(transcript.refuse("stream_reset").told.isEmpty)
        for data in ["null", "[]", #""nonsense""#, #"{"recovered":{},"failed":[7,{"channel":7}]}"#] {
            #expect(transcript.receive(#"{"event":"sockudo:resume_success","data":\#(data)}"#).told.isEmpty)
        }
        #expect(transcript.event(6).told == ["6"])
    }

    // Proves P19.16.
    @Test func `A stored position that isn't replayed is reported as a gap`() {
        let stored = StreamPosition(stream: "old", serial: 6)
        var refused = Transcript.connected { $0.protocol = .sockudo }
        refused.play(.subscribe(channel: "room", auth: nil, after: stored))
        refused.succeed(serial: 2, attach: 2)
        #expect(refused.refuse("stream_reset").told.first == "gap")
        var protocol7 = Transcript.connected()
        protocol7.play(.subscribe(channel: "room", auth: nil, after: stored))
        #expect(protocol7.succeed("room").told.first == "gap")
    }

    // Proves P19.5.
    @Test func `Held events of two streams are sorted by serial within each stream`() {
        var transcript = Transcript.subscribing(to: "room") { $0.protocol = .sockudo }
        transcript.succeed(serial: 4, attach: nil)
        transcript.events(10, 9)
        transcript.event(2, stream: "other")
        #expect(transcript.resumed(upTo: 9).told.filter { $0 != "gap" } == ["9", "10", "2"])
    }

    // Proves P19.7.
    @Test func `A late replay brings nothing again that came before a second success`() {
        var transcript = Transcript.sockudo(attach: nil)
        var told = transcript.event(6).told + transcript.event(1, stream: "other").told
        told += transcript.succeed(serial: 6, attach: nil).told
        told += transcript.event(6).told + transcript.resumed(upTo: 6).told
        #expect(told.filter { $0 == "6" }.count == 1, "\(told)")
    }

    // Proves P19.7.
    @Test func `An event that two streams' events surround is delivered once`() {
        var transcript = Transcript.sockudo(attach: nil)
        transcript.resumed(upTo: 5)
        let told = (1...2).flatMap { _ in transcript.event(6).told + transcript.event(1, stream: "other").told }
        #expect(told == ["6", "1"])
        #expect(transcript.event(7).told == ["7"])
    }
}

extension Transcript {
    /// Receives the answer that nothing is replayed, in both of its frames.
    @discardableResult
    fileprivate mutating func refuse(_ code: String, current: String? = nil) -> [Output] {
        let stream = current.map { #"\"\#($0)\""# } ?? "null"
        let data = #"\"code\":\"\#(code)\",\"reason\":\"r\",\"current_stream_id\":\#(stream)"#
        return receive(#"{"event":"sockudo:resume_failed","channel":"room","data":"{\#(data)}"}"#).filter {
            if case .deliver(.event) = $0 { false } else { true }
        }
            + receive(
                #"{"event":"sockudo:resume_success","data":"{\"recovered\":[],\"failed\":[{\"channel\":\"room\",\#(data)}]}"}"#)
    }
}
