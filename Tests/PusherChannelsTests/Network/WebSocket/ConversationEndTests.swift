import Testing

@testable import PusherChannels

/// The end of a WebSocket: RFC 6455, 5.5.1 and 7. Every kind of end is reported exactly once, and no data is sent after our
/// close frame.
@Suite struct ConversationEndTests {
    private let timer = Did.setTimer(.seconds(2))

    /// Expects that no input after the end has an effect.
    private func expectNothingMore(_ rig: inout ConversationRig) {
        #expect(rig.receive(ServerFrame.text("late") + ServerFrame.ping("") + ServerFrame.close(1000)) == [])
        #expect(rig.send("late") == [])
        #expect(rig.close(1000) == [])
        #expect(rig.abandon() == [])
        #expect(rig.timerFires() == [])
        #expect(rig.streamEnds() == [])
        #expect(rig.receive([0xFF]) == [])
    }

    /// Expects that, after both close frames, the peer closes the stream and any more input from it is ignored.
    private func expectParting(_ rig: inout ConversationRig) {
        #expect(rig.receive(ServerFrame.text("late") + ServerFrame.ping("") + ServerFrame.close(1000) + [0xFF]) == [])
        #expect(rig.send("late") == [])
        #expect(rig.close(1000) == [])
        #expect(rig.abandon() == [])
        #expect(rig.streamEnds() == [.closedStream])
        expectNothingMore(&rig)
    }

    // Proves W5.25, W5.27, W7.5, W7.14.
    @Test(arguments: [1000, 1001, 1003, 1007, 1011, 1012, 1013, 1014, 3000, 4000, 4100, 4999] as [UInt16])
    func `The server's close is echoed with its code and reported with its reason`(code: UInt16) {
        var rig = ConversationRig()
        let report = Did.reported(.closed(code: code, reason: "why – so"))
        let did = rig.receive(ServerFrame.text("last") + ServerFrame.close(code, "why – so"))
        #expect(did == [.wrote([.close(code)]), .delivered(["last"]), timer, report])
        expectParting(&rig)
    }

    // Proves W5.26, W7.16.
    @Test(arguments: [ServerFrame.close(1000), [0xFF], ServerFrame.ping("?") + ServerFrame.close(4001)])
    func `A reply to a message that came together with the connection's end is dropped`(end: [UInt8]) {
        var rig = ConversationRig()
        let did = rig.receive(ServerFrame.text("question") + end)
        #expect(did.contains(.delivered(["question"])))
        #expect(rig.send("answer") == [])
        #expect(rig.sendUnlessBusy("answer") == [])
    }

    // Proves W5.24, W5.27, W7.5.
    @Test func `A close without a code is echoed without one and reported as 1005`() {
        var rig = ConversationRig()
        let report = Did.reported(.closed(code: 1005, reason: ""))
        #expect(rig.receive([0x88, 0]) == [.wrote([ClientFrame(opcode: 8, payload: [])]), timer, report])
        expectParting(&rig)
    }

    // Proves W5.27, W7.2.
    @Test func `The server is left to close the stream after the echo of its close is written`() {
        var rig = ConversationRig()
        rig.room = 0
        #expect(rig.send("before") == [])
        #expect(rig.receive(ServerFrame.close(4200)) == [timer, .reported(.closed(code: 4200, reason: ""))])
        #expect(rig.send("after") == [])
        #expect(rig.streamTakes(5) == [timer])
        #expect(rig.streamTakes(.max) == [.wrote([.text("before"), .close(4200)]), timer])
        expectParting(&rig)
    }

    // Proves W7.3.
    @Test(arguments: [Int.max, 0])
    func `The client closes the stream if the server doesn't close it, or doesn't read the echo, in time`(room: Int) {
        var rig = ConversationRig()
        rig.room = room
        let echo: [Did] = room == 0 ? [] : [.wrote([.close(1000)])]
        #expect(rig.receive(ServerFrame.close(1000)) == echo + [timer, .reported(.closed(code: 1000, reason: ""))])
        #expect(rig.timerFires() == [.closedStream])
        expectNothingMore(&rig)
    }

    // Proves W5.28, W5.29, W7.2, W7.4, W7.5.
    @Test(arguments: [1000, 1001, 1012, 1013, 1014, 4999] as [UInt16])
    func `The client's close is reported with its own code when the server replies to it`(code: UInt16) {
        var rig = ConversationRig()
        #expect(rig.close(code, "bye") == [.wrote([.close(code, "bye")]), timer])
        let did = rig.receive(ServerFrame.text("crossed") + ServerFrame.ping("x") + ServerFrame.close(1000, "ok"))
        let report = Did.reported(.closed(code: code, reason: "bye"))
        #expect(did == [.wrote([.pong("x")]), .delivered(["crossed"]), .heardControlFrame, timer, report])
        expectParting(&rig)
    }

    // Proves W5.26, W6.1, W7.4.
    @Test func `After the client's close frame, no text and no second close frame is sent`() {
        var rig = ConversationRig()
        rig.room = 0
        #expect(rig.send("before") == [])
        #expect(rig.close(1000) == [timer])
        #expect(rig.send("after") == [])
        #expect(rig.close(1001) == [])
        #expect(rig.streamTakes(.max) == [.wrote([.text("before"), .close(1000)]), timer])
        #expect(rig.send("after") == [])
    }

    // Proves W7.3.
    @Test func `Pongs after the client's close don't extend the server's time to reply`() {
        var rig = ConversationRig()
        rig.room = 0
        #expect(rig.send("before") == [])
        #expect(rig.close(1000) == [timer])
        #expect(rig.receive(ServerFrame.ping("p")) == [.heardControlFrame])
        // "before" is 12 bytes long, the close frame 8: only progress with these bytes sets the timer again.
        #expect(rig.streamTakes(12) == [.wrote([.text("before")]), timer])
        #expect(rig.streamTakes(7) == [timer])
        #expect(rig.streamTakes(2) == [timer])
        #expect(rig.streamTakes(2) == [])
        #expect(rig.streamTakes(.max) == [.wrote([.close(1000), .pong("p")])])
        #expect(rig.receive(ServerFrame.ping("q")) == [.wrote([.pong("q")]), .heardControlFrame])
    }

    // Proves W5.32.
    @Test func `After the client's close, only the last ping during a full stream is answered`() {
        var rig = ConversationRig.full()
        #expect(rig.close(1000) == [timer])
        for number in 0..<1000 { #expect(rig.receive(ServerFrame.ping("\(number)")) == [.heardControlFrame]) }
        #expect(rig.streamTakes(.max) == [.wrote([.text(ConversationRig.backlog), .close(1000), .pong("999")]), timer])
    }

    enum Answer: CaseIterable {
        case nothing, endOfStream, violation
    }

    // Proves W7.3, W7.5, W7.10.
    @Test(arguments: Answer.allCases)
    func `The client's close is reported as such if the server is silent, ends the stream, or breaks the rules`(answer: Answer) {
        var rig = ConversationRig()
        _ = rig.close(4100, "bye")
        let did =
            switch answer {
            case .nothing: rig.timerFires()
            case .endOfStream: rig.streamEnds()
            case .violation: rig.receive([0xFF, 0xFF])
            }
        #expect(did == [.reported(.closed(code: 4100, reason: "bye")), .closedStream])
        expectNothingMore(&rig)
    }

    @Test func `An abandoned conversation is reported as closed at once and ends by itself`() {
        var rig = ConversationRig()
        #expect(rig.abandon() == [.wrote([.close(1000)]), timer, .reported(.closed(code: 1000, reason: ""))])
        #expect(rig.abandon() == [])
        for frame in [ServerFrame.text("late"), ServerFrame.pong("")] { #expect(rig.receive(frame) == []) }
        #expect(rig.receive(ServerFrame.ping("p")) == [.wrote([.pong("p")])])
        #expect(rig.receive(ServerFrame.close(1000)) == [timer])
        expectParting(&rig)
    }

    @Test func `A conversation that is abandoned while it closes keeps the code of its close`() {
        var rig = ConversationRig()
        _ = rig.close(4100, "bye")
        #expect(rig.abandon() == [.reported(.closed(code: 4100, reason: "bye"))])
        #expect(rig.timerFires() == [.closedStream])
        expectNothingMore(&rig)
    }

    // Proves W7.6.
    @Test(arguments: [[], [0x81], [0x81, 5, 0x61], [0x01, 1, 0x61]] as [[UInt8]])
    func `A stream that ends without a close frame is reported as a lost connection`(begun: [UInt8]) {
        var rig = ConversationRig()
        #expect(rig.receive(begun) == [])
        let lost = TransportError(.connectionLost, "The connection was lost without a close frame")
        #expect(rig.streamEnds() == [.reported(.failed(lost)), .closedStream])
        expectNothingMore(&rig)
    }

    // Proves W7.9.
    @Test func `A timer that fires in an open conversation has no effect`() {
        var rig = ConversationRig()
        #expect(rig.timerFires() == [])
        #expect(rig.receive(ServerFrame.text("a")) == [.delivered(["a"])])
    }

    // Proves W5.26, W7.10.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func `Inputs in any order lead to one report and one closed stream, and no data after a close`(seed: UInt64) {
        var traffic = RandomTraffic(seed: seed)
        for _ in 0..<20 {
            var rig = ConversationRig()
            var did: [Did] = []
            for _ in 0..<traffic.below(12) {
                rig.room = [0, 3, 20, .max][traffic.below(4)]
                switch traffic.below(13) {
                case 12: did += rig.abandon()
                case 0: did += rig.close(4000, "r")
                case 1: did += rig.timerFires()
                case 2: did += rig.streamEnds()
                case 3: did += rig.receive(ServerFrame.close(1001))
                case 4: did += rig.receive([0xFF])
                case 5...7: did += rig.send("text")
                default: did += rig.receive(traffic.next().bytes)
                }
            }
            did += rig.streamTakes(.max) + rig.streamTakes(.max) + rig.streamEnds()

            let reports = did.indices.filter { if case .reported = did[$0] { true } else { false } }
            #expect(reports.count == 1)
            let delivery = did.lastIndex { if case .delivered = $0 { true } else { false } }
            #expect((delivery ?? -1) < (reports.first ?? -1))
            let frames = did.flatMap { did -> [ClientFrame] in if case .wrote(let frames) = did { frames } else { [] } }
            #expect(frames.drop { $0.opcode != 8 }.dropFirst().allSatisfy { $0.opcode == 10 })
            #expect(did.filter { $0 == .closedStream }.count == 1)
        }
    }
}
