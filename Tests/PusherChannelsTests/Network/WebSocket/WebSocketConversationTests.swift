import Testing

@testable import PusherChannels

/// The messages and control frames of an open WebSocket. ``ConversationEndTests`` covers its end.
@Suite struct WebSocketConversationTests {
    // Proves W6.3.
    @Test func `The whole messages of one read are delivered as one batch`() {
        var rig = ConversationRig()
        let bytes = ServerFrame.text("a") + ServerFrame.text("b") + ServerFrame.text("c", isFinal: false)
        #expect(rig.receive(bytes) == [.delivered(["a", "b"])])
        #expect(rig.receive(ServerFrame.more("d", isFinal: true) + ServerFrame.text("e")) == [.delivered(["cd", "e"])])
    }

    @Test func `A message that arrives whole is delivered without being copied`() {
        var conversation = WebSocketConversation(maximumSize: 1000, closeTimeout: .seconds(2)) { 0 }
        (ServerFrame.text("first") + ServerFrame.text("second")).withUnsafeBytes { bytes in
            conversation.receive(bytes)
            conversation.takeMessages { batch in
                var places: [Int?] = []
                batch.forEach { _, message in
                    places.append(bytes.baseAddress.flatMap { start in message.baseAddress.map { $0 - start } })
                }
                #expect(places == [2, 9])
            }
        }
    }

    // Proves W5.1, W5.3, W6.2, W6.3.
    @Test func `Texts are sent in order, even if the stream takes them later`() {
        var rig = ConversationRig()
        #expect(rig.send("a") == [.wrote([.text("a")])])
        #expect(rig.streamTakes(0) == [])
        #expect(rig.send("b") == [])
        #expect(rig.send("é") == [])
        #expect(rig.streamTakes(.max) == [.wrote([.text("b"), .text("é")])])
    }

    // Proves W5.12, W6.3.
    @Test func `Output goes on where the stream stopped taking bytes`() {
        var rig = ConversationRig()
        rig.room = 0
        let texts = (0..<20).map { String(repeating: "\($0)", count: 9 * $0) }
        for text in texts { #expect(rig.send(text) == []) }
        var frames: [ClientFrame] = []
        for _ in 0..<300 { for case .wrote(let some) in rig.streamTakes(13) { frames += some } }
        #expect(frames == texts.map { ClientFrame.text($0) })
    }

    @Test func `A conversation reuses the memory of fragmented messages`() {
        var conversation = WebSocketConversation(maximumSize: 1000, closeTimeout: .seconds(2)) { 0 }
        let bytes = ServerFrame.text("a", isFinal: false) + ServerFrame.more(String(repeating: "b", count: 500), isFinal: true)
        for _ in 0..<100 {
            bytes.withUnsafeBytes { bytes in
                conversation.receive(bytes)
                conversation.takeMessages { _ in }
            }
        }
        #expect(conversation.capacity == 1024)
    }

    // Proves W5.29, W5.30, W5.31.
    @Test func `Pings are answered in order, before the messages of the same read are delivered`() {
        var rig = ConversationRig()
        let bytes = ServerFrame.text("a") + ServerFrame.ping("1") + ServerFrame.ping("") + ServerFrame.text("b")
        #expect(rig.receive(bytes) == [.wrote([.pong("1"), .pong("")]), .delivered(["a", "b"]), .heardControlFrame])
        #expect(rig.receive(ServerFrame.text("c")) == [.delivered(["c"])])
    }

    // Proves P4.6, W5.31.
    @Test(arguments: [0, 1, 124, 125])
    func `A pong has the ping's bytes, wherever the ping is split`(size: Int) {
        let payload = (0..<size).map { UInt8(0xFF - $0) }
        let ping = ServerFrame(opcode: 9, payload: payload).bytes
        let reply: [Did] = [.wrote([ClientFrame(opcode: 10, payload: payload)]), .heardControlFrame]
        for cut in 0...ping.count {
            var rig = ConversationRig()
            #expect(rig.receive(Array(ping[..<cut])) + rig.receive(Array(ping[cut...])) == reply)
        }
    }

    // Proves W5.33.
    @Test func `An unasked pong is reported as a sign of life and not answered`() {
        var rig = ConversationRig()
        #expect(rig.receive(ServerFrame.pong("unasked")) == [.heardControlFrame])
    }

    // Proves W5.32, W10.3.
    @Test func `Of the pings that come while the stream is full, only the last is answered`() {
        var rig = ConversationRig.full()
        for number in 0..<1000 { #expect(rig.receive(ServerFrame.ping("\(number)")) == [.heardControlFrame]) }
        let written = [ClientFrame.text(ConversationRig.backlog), .pong("999")]
        #expect(rig.streamTakes(.max) == [.wrote(written)], "at once: a stream that took everything asks for no more")
        #expect(rig.receive(ServerFrame.ping("x")) == [.wrote([.pong("x")]), .heardControlFrame])
    }

    // Proves P4.9.
    @Test func `Of the replies that are made while the stream is full, only the last is sent`() {
        var rig = ConversationRig.full()
        for number in 0..<100_000 { #expect(rig.sendUnlessBusy("\(number)") == []) }
        let written = [ClientFrame.text(ConversationRig.backlog), .text("99999")]
        #expect(rig.streamTakes(.max) == [.wrote(written)], "at once: a stream that took everything asks for no more")
        #expect(rig.sendUnlessBusy("x") == [.wrote([.text("x")])])
    }

    @Test func `A conversation ends if more than 16 MiB wait to be sent`() {
        var rig = ConversationRig()
        rig.room = 0
        let text = String(repeating: "a", count: 1 << 20)
        for _ in 0..<16 { #expect(rig.send(text) == []) }
        let failure = TransportError(.connectionLost, "The server doesn't read: more than 16 MiB wait to be sent")
        #expect(rig.send(text).first == .reported(.failed(failure)))
        #expect(rig.send("more") == [])
    }

    // Proves W5.29.
    @Test(
        arguments: [
            (ServerFrame.close(1000), .close(1000), .setTimer(.seconds(2))),
            ([0x83, 0], .close(1002, "unknown opcode 3"), .closedStream),
        ] as [([UInt8], ClientFrame, Did)])
    func `A pong that was held back isn't sent behind an answer to an end`(bytes: [UInt8], close: ClientFrame, end: Did) {
        var rig = ConversationRig.full()
        #expect(rig.receive(ServerFrame.ping("p")) == [.heardControlFrame])
        #expect(rig.receive(bytes).count == 2)
        #expect(rig.streamTakes(69_000) == [.setTimer(.seconds(2))])
        #expect(rig.streamTakes(.max) == [.wrote([.text(ConversationRig.backlog), close]), end])
        #expect(rig.streamTakes(.max) == [])
    }

    // Proves W5.29, W5.32.
    @Test func `A pong that a full stream held back is sent before the client's close frame`() {
        var rig = ConversationRig.full()
        #expect(rig.receive(ServerFrame.ping("p")) == [.heardControlFrame])
        #expect(rig.close(1000) == [.setTimer(.seconds(2))])
        let written = [ClientFrame.text(ConversationRig.backlog), .pong("p"), .close(1000)]
        #expect(rig.streamTakes(.max) == [.wrote(written), .setTimer(.seconds(2))])
    }
}
