import Testing

@testable import PusherChannels

/// What a client reads from a Sockudo server's history, while much else happens.
@Suite struct RecoveryHistoryTests {
    // Proves P19.11, P19.12.
    @Test func `A serial that was missing when the connection was lost is read with what came later`() {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.event(7)
        let outputs = transcript.subscribeAgain(serial: 1_000, attach: 1_000)
        #expect(outputs.sent == [.history(channel: "room", serials: 6...1_000, cursor: nil)])
        #expect(transcript.history([6, 7, 8], cursor: "c").told == ["6", "8"])
    }

    // Proves P19.12.
    @Test func `The last events that a replay leaves out are read from the history, or a gap since the loss`() {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.pass(.seconds(10))
        transcript.event(6)
        let since = transcript.now
        transcript.pass(.seconds(10))
        for isAnswered in [true, false] {
            transcript.subscribeAgain(serial: isAnswered ? 8 : 10, attach: isAnswered ? 7 : 9)
            #expect(transcript.resumed().told.first == "recovered 0")
            let asked = isAnswered ? 7...8 : 9...10
            #expect(transcript.pass(.milliseconds(300)).sent == [.history(channel: "room", serials: asked, cursor: nil)])
            if isAnswered { #expect(transcript.history([7, 8]).told == ["7", "8"]) }
        }
        let gaps = transcript.pass(.seconds(30)).gaps
        #expect(gaps.count == 1 && gaps[0] >= since && gaps[0] < transcript.now - .seconds(30))
    }

    /// A history that is behind, was reset, or keeps less than was asked for says nothing of what it doesn't have.
    // Proves P19.12.
    @Test(arguments: ["empty", "behind", "cut off", "unreadable", "without a next page"])
    func `A page that doesn't go up to what was asked for is a gap`(kind: String) {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.event(9)
        transcript.pass(.milliseconds(300))
        let outputs =
            switch kind {
            case "empty", "behind":
                (0...5).flatMap { _ in
                    transcript.history(kind == "empty" ? [] : [7, 8]) + transcript.pass(.milliseconds(300))
                }
            case "cut off": transcript.history([8, 9], complete: false)
            case "unreadable":
                transcript.receive(
                    #"{"event":"sockudo:channel_history","channel":"room","data":{"items":[{"message":7}],"has_more":false}}"#)
            default: transcript.history([6], cursor: "c") + transcript.history([6], cursor: "c")
            }
        #expect(outputs.gaps.count == 1)
        #expect(transcript.event(10).told == ["10"])
        #expect(transcript.pass(.seconds(60)).gaps.isEmpty)
    }

    /// Another node's first events may not have come, as it was just started.
    // Proves P19.2, P19.12.
    @Test func `What an empty channel had before the first event that came is missing`() {
        var transcript = Transcript.sockudo(attach: 0, serial: 0)
        transcript.event(2, stream: "named")
        #expect(transcript.pass(.milliseconds(300)).sent == [.history(channel: "room", serials: 1...2, cursor: nil)])
        #expect(transcript.history([1, 2], stream: "named").told == ["1"])
        // Unless it may be what the client sent itself.
        var sender = Transcript.connected { $0.protocol = .sockudo }
        sender.subscribe("private-room", auth: .signed)
        sender.succeed("private-room", serial: 0, attach: 0)
        sender.play(.trigger(ClientEvent(name: "client-e", channel: "private-room", data: "1")))
        sender.event(2, on: "private-room", stream: "named")
        #expect(sender.pass(.seconds(2)).sent.isEmpty)
    }

    // Proves P19.12.
    @Test func `A reset of the history while a serial is missing is a gap, and its late page says nothing of the new stream`() {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.event(7)
        transcript.pass(.milliseconds(300))
        #expect(transcript.event(1, stream: "t").told == ["1", "gap"])
        #expect(transcript.event(4, stream: "t").told == ["4"])
        #expect(transcript.pass(.milliseconds(300)).sent == [.history(channel: "room", serials: 2...4, cursor: nil)])
        #expect(transcript.history([], bounds: 6...7).isEmpty)
        #expect(transcript.history([2, 3, 4], stream: "t", bounds: 2...4).told == ["2", "3"])
        #expect(transcript.pass(.seconds(60)).gaps.isEmpty)
    }

    // Proves P19.4, P19.11.
    @Test func `What came while the history was read is read, too, if it is too much for a replay`() {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.subscribeAgain(serial: 1_000, attach: 1_000)
        transcript.events(1_000, 1_001, 1_002, 1_901)
        #expect(transcript.history([999, 1_000]).sent == [.history(channel: "room", serials: 1_001...1_901, cursor: nil)])
        transcript.events(1_001, 1_000)
        #expect(transcript.history([1_001, 1_900, 1_901]).sent == [.replay(after: 1_901)])
        // The history doesn't have 1,002 yet, which was held like the others.
        #expect(transcript.resumed().told == ["recovered 5", "success", "subscribed", "1002"])
        #expect(transcript.machine.recovery.heldBytes == 0)
    }

    // Proves P19.11.
    @Test func `A second reading of the history that waits for its turn isn't given up when the first one's time is over`() {
        let channels: [Name] = ["room", "b", "c", "d"]
        var transcript = Transcript.sockudo(channels, attach: 5)
        transcript.reconnect()
        for channel in channels { transcript.succeed(channel, serial: 1_000, attach: 1_000) }
        transcript.event(1_901)
        transcript.history([1_000])
        transcript.pass(.seconds(29))
        // Both places are taken by channels that go on.
        for channel: Name in ["b", "c"] { transcript.history([6], cursor: "c", of: channel, to: channel) }
        #expect(!transcript.pass(.seconds(2)).told.contains("gap"))
    }

    // Proves P19.11.
    @Test(arguments: [false, true])
    func `A history is asked for when the channels before it are given up, or subscribed again, unanswered`(isAgain: Bool) {
        let channels: [Name] = ["a", "b", "c"]
        var transcript = Transcript.sockudo(channels, attach: 5)
        transcript.reconnect()
        for channel in channels { transcript.succeed(channel, serial: 1_000, attach: 1_000) }
        let outputs = channels.dropLast().flatMap {
            isAgain ? transcript.succeed($0, serial: 1_000, attach: 1_000) : transcript.unsubscribe($0)
        }
        #expect(outputs.sent.contains(.history(channel: "c", serials: 6...1_000, cursor: nil)))
    }

    // Proves P19.11, P19.12.
    @Test(arguments: [Duration.zero, .seconds(30)])
    func `A channel whose replay was given up tells no second gap, whether its history may still come or not`(wait: Duration) {
        var transcript = Transcript.sockudo(attach: 5) { $0.heldEventByteLimit = 200 }
        transcript.subscribeAgain(serial: 1_000, attach: 1_000)
        #expect(transcript.events(1_001, 1_002).gaps.count == 1)
        #expect(transcript.pass(wait).gaps.isEmpty)
        transcript.events(1_004, 1_003)
        #expect(transcript.pass(.milliseconds(400)).gaps.isEmpty)
    }

    // Proves P19.11.
    @Test func `A client that never catches up with a channel's history reports a gap`() {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.subscribeAgain(serial: 1_000, attach: 1_000)
        var told: [String] = []
        for last in stride(from: 1_000, to: 5_000, by: 1_000) {
            transcript.event(last + 1_000)
            told = transcript.history([last]).told
        }
        #expect(told.contains("gap") && told.contains("subscribed"), "\(told)")
    }

    // Proves P19.4.
    @Test func `Events that a channel holds while it waits for its turn count as its replay`() {
        var transcript = Transcript.sockudo(["a", "b", "c"], attach: nil, serial: 0)
        for channel: Name in ["b", "c"] { transcript.event(500, on: channel) }
        let start = StreamPosition(stream: "s", serial: 0)
        #expect(transcript.resumed("a").sent == [.resume(["b": start])])
        #expect(transcript.resumed("b", upTo: 500).sent == [.resume(["c": start])])
    }

    // Proves P19.11.
    @Test func `A page that isn't complete because more follow is no gap`() {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.subscribeAgain(serial: 1_000, attach: 1_000)
        let first = transcript.history([6, 7], cursor: "c", complete: false, isTruncated: false)
        #expect(first.told == ["6", "7"])
        #expect(first.sent == [.history(channel: "room", serials: 6...1_000, cursor: "c")])
        #expect(transcript.history([1_000]).sent == [.replay(after: 1_000)])
    }

    /// The error names neither the channel nor what was asked for, and each of its codes has other reasons, too.
    // Proves P19.11.
    @Test(arguments: [
        #"{"code":4300,"message":"Channel error: Durable history is disabled by policy for channel 'room'"}"#,
        #"{"code":4301,"message":"Client event error: Socket 1.2 is not subscribed to channel room"}"#,
        #"{"code":4000,"message":"Invalid message format: Missing data in channel_history message"}"#,
    ]) func `An error instead of a page of history is a gap when the page's time is over`(data: String) {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.subscribeAgain(serial: 1_000, attach: 1_000)
        #expect(!transcript.receive(#"{"event":"sockudo:error","data":\#(data)}"#).told.contains("gap"))
        #expect(transcript.pass(.milliseconds(29_999)).told.isEmpty)
        #expect(transcript.pass(.milliseconds(1)).told == ["gap", "success", "subscribed"])
        #expect(transcript.event(1_001).told == ["1001"])
        #expect(transcript.pass(.seconds(60)).gaps.isEmpty)
    }

    /// Who resets a channel's history begins another stream, without a word to those who are subscribed.
    // Proves P19.2, P19.12.
    @Test func `A history that is reset while the channel is subscribed goes on with its new stream`() {
        var transcript = Transcript.sockudo(attach: 5)
        #expect(transcript.event(1, stream: "t").told == ["1"])
        #expect(transcript.pass(.seconds(2)).sent.isEmpty, "nothing is missing")
        #expect(transcript.subscribeAgain(serial: 2, attach: 2, stream: "t").sent == [.replay(after: 1, of: "t")])
    }

    // Proves P19.12.
    @Test func `A page of history that brings nothing new is followed by the next one`() {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.events(9, 7)
        transcript.pass(.milliseconds(300))
        let next = transcript.history([7], cursor: "c").sent
        #expect(next == [.history(channel: "room", serials: 6...9, cursor: "c")], "6 isn't in the history")
        #expect(transcript.history([8, 9]).told == ["8"])
        transcript.event(11)
        transcript.pass(.milliseconds(300))
        for _ in 0..<2 { transcript.history([11], cursor: "again") }
        #expect(transcript.history([11], cursor: "again").sent.isEmpty)
    }

    // Proves P19.7, P19.12.
    @Test func `Events that a page brings after their gap was reported are dropped`() {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.event(7)
        #expect(transcript.pass(.milliseconds(300)).sent == [.history(channel: "room", serials: 6...7, cursor: nil)])
        #expect(transcript.event(400).told == ["400", "gap"])
        #expect(transcript.history([6, 7]).told.isEmpty, "7 was delivered")
        #expect(transcript.subscribeAgain(serial: 400, attach: 400).sent == [.replay(after: 400)])
    }

    // Proves P19.12.
    @Test func `A missing serial whose page is of another stream is a gap`() {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.event(7)
        transcript.pass(.milliseconds(300))
        #expect(transcript.history([6], stream: "other").told == ["gap"])
    }

    // Proves P19.1, P19.12.
    @Test func `A client's own events aren't delivered to it from the history, unless another sent the same`() {
        var transcript = Transcript.connected { $0.protocol = .sockudo }
        transcript.subscribe("private-room", auth: PusherAuth(auth: "k:s"))
        transcript.succeed("private-room", serial: 5, attach: 5)
        transcript.play(.trigger(ClientEvent(name: "client-e", channel: "private-room", data: #"{"a":1,"b":2}"#)))
        transcript.event(8, on: "private-room")
        transcript.pass(.milliseconds(300))
        let items = [6, 7, 8].map { serial in
            #"{"message":{"event":"client-e","channel":"private-room","data":{"b":2,"a":1},"stream_id":"s","serial":\#(serial)}}"#
        }
        let page =
            #"{"event":"sockudo:channel_history","channel":"private-room","data":{"items":[\#(items.joined(separator: ","))],"has_more":false}}"#
        #expect(transcript.receive(page).told == [#"{"a":1,"b":2}"#], "one of two")
        #expect(transcript.pass(.seconds(2)).sent.isEmpty)
    }

    // Proves P19.14.
    @Test func `A replay on an encrypted channel may be larger than what usually waits to be decrypted`() {
        var transcript = Transcript.connected {
            $0.protocol = .sockudo
            $0.encryptedEventByteLimit = 200
        }
        let (channel, auth): (Name, PusherAuth) = ("private-encrypted-e", PusherAuth(auth: "k:s", sharedSecret: "secret"))
        transcript.subscribe(channel, auth: auth)
        transcript.succeed(channel, serial: 0, attach: nil)
        for serial in 1...9 { transcript.event(serial, on: channel) }
        var replay = transcript.resumed(channel, upTo: 9)
        #expect(replay.told.isEmpty, "no gap")
        #expect(transcript.event(10, on: channel).told.isEmpty, "nor for what comes behind it")
        while let event = replay.decryption { replay = transcript.play(.opened(event, .success("x"))) }
        let later = (11...14).flatMap { transcript.event($0, on: channel) }.told
        #expect(later.last?.hasPrefix("decryptionFailed") == true, "the limit holds again")
    }

    // Proves P19.2, P19.16.
    @Test func `A stored position of an empty channel is that of the stream that its events have`() {
        var transcript = Transcript.connected { $0.protocol = .sockudo }
        let stored = StreamPosition(stream: "never used", serial: 0)
        transcript.play(.subscribe(channel: "room", auth: nil, after: stored))
        #expect(transcript.succeed(serial: 3, attach: 3).sent == [.replay(after: 0)])
        transcript.resumed(upTo: 0)

        transcript = Transcript.connected { $0.protocol = .sockudo }
        transcript.play(.subscribe(channel: "room", auth: nil, after: stored))
        #expect(transcript.succeed(serial: 0, attach: 0, stream: "nor this").sent == [.replay(after: 0, of: "nor this")])
        transcript.resumed()
        #expect(transcript.subscribeAgain(serial: 1_000, attach: 1_000).sent.count == 1)
        #expect(transcript.history([1, 2], cursor: "c").told == ["1", "2"], "which is read, too")
    }
}

extension [Output] {
    fileprivate var decryption: ConnectionMachine.EncryptedEvent? {
        for case .command(.decrypt(let event, _)) in self { return event }
        return nil
    }
}
