import Processes
import PusherChannels
import TestSupport
import Testing

@Suite(.timeLimit(.lost)) struct StreamTests {
    private func rig(_ change: (inout PusherClientOptions) -> Void = { _ in }) -> ClientRig {
        let rig = ClientRig.connected(change)
        rig.pusher.subscribe("news")
        return rig
    }

    @Test func `A waiting reader is woken by new events and ends when it is canceled, and the stream goes on`() async throws {
        // On one thread: when the executor has settled, its readers are waiting.
        try await TestExecutor().run { executor in
            let rig = rig()
            let stream = rig.pusher.events
            let reading = Task(executorPreference: executor) { try await stream.data(of: 3) }
            await executor.settle()
            rig.publish(0..<2)
            await executor.settle()
            reading.cancel()
            let data = try await reading.value
            #expect(data == ["0", "1"])
            rig.publish(2..<3)
            let next = try await stream.data(of: 1)
            #expect(next == ["2"])
        }
    }

    @Test func `A stream of connection states gives each change with its reason`() async throws {
        let rig = rig()
        let states = rig.pusher.connectionStates
        rig.socket.serverCloses(code: 4001, reason: "gone")
        let change = try await states.elements(1).first
        #expect(change?.old == .connected && change?.new == .disconnected && change?.reason?.code == 4001)
    }

    @Test func `A stream ends when its client is released`() async throws {
        var rig: ClientRig? = rig()
        let stream = rig?.pusher.events
        rig = nil
        #expect(try await stream?.elements().isEmpty == true)
    }

    @Test func `A full stream stops the socket's reading, and its reader loses no event`() async throws {
        let rig = rig()
        let stream = rig.pusher.events(buffering: StreamBuffering(limit: 100))
        rig.publish(0..<20_000)
        #expect(!rig.socket.isReading)
        var iterator = stream.makeAsyncIterator()
        var pauses = 0
        for number in 0..<20_000 {
            if !rig.socket.isReading { pauses += 1 }
            let event = try await iterator.next()
            guard event?.data == "\(number)" else {
                Issue.record("\(event?.data ?? "nothing") in the place of \(number)")
                return
            }
        }
        #expect(rig.socket.isReading)
        #expect(pauses > 10_000, "it was read half a buffer at a time")
        #expect(stream.dropped == 0)
    }

    /// The reader took all waiting elements, and more have come since: half of the buffer is free before it has read all of its
    /// elements.
    @Test func `Each element of a batch that a reader took makes room once that element is read`() async throws {
        let rig = rig { $0.pauseLimit = .seconds(5) }
        let stream = rig.pusher.events(buffering: StreamBuffering(limit: 16))
        rig.publish(0..<12)
        var iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next()?.data == "0")
        rig.publish(12..<16)
        for number in 1..<8 {
            #expect(!rig.socket.isReading)
            #expect(try await iterator.next()?.data == "\(number)")
        }
        #expect(rig.socket.isReading)
        rig.scheduler.advance(by: .seconds(5))
        for number in 8..<16 { #expect(try await iterator.next()?.data == "\(number)") }
    }

    @Test(arguments: [
        ##"{"event":"\##(String(repeating: "x", count: 100_000))"}"##,
        ##"{"event":"e","data":null,\##(String(repeating: " ", count: 100_000))"channel":"news"}"##,
    ])
    func `A stream's byte limit counts whole messages, including names and white space`(message: String) {
        let rig = rig()
        let stream = rig.pusher.events(buffering: StreamBuffering(byteLimit: 400_000))
        for _ in 0..<3 { rig.socket.serverSends(message) }
        #expect(rig.socket.isReading)
        rig.socket.serverSends(message)
        #expect(!rig.socket.isReading)
        withExtendedLifetime(stream) {}
    }

    @Test func `A stream whose reader is too slow ends with readerTooSlow at the pause limit`() async throws {
        let rig = rig { $0.pauseLimit = .seconds(5) }
        let stream = rig.pusher.events(buffering: StreamBuffering(limit: 10))
        let other = rig.pusher.events(buffering: StreamBuffering(limit: 100))
        rig.publish(0..<50)
        rig.scheduler.advance(by: .seconds(5))
        #expect(rig.socket.isReading)
        let (events, error) = await stream.read()
        #expect(error?.kind == .readerTooSlow)
        #expect(error?.message == "nobody read 10 elements of the stream of events for too long; it has ended")
        #expect(events.map(\.data) == (0..<10).map { "\($0)" }, "what it had room for can still be read")
        rig.publish(50..<60)
        #expect(rig.socket.isReading)
        #expect(try await other.data(of: 60).count == 60)
    }

    /// Without a connection, there is no server that could be made to wait.
    @Test func `An unread stream of states stays within its limit while connection attempts fail`() async throws {
        let rig = rig { $0.reconnectPolicy = ReconnectPolicy(maximumDelay: .seconds(1)) }
        let ended = rig.pusher.connectionStates(buffering: StreamBuffering(limit: 10))
        let dropping = rig.pusher.connectionStates(buffering: StreamBuffering(limit: 10, overflow: .pauseThenDrop))
        try rig.socket.inject(.refused)
        rig.socket.drop()
        rig.scheduler.advance(by: .seconds(60))
        #expect(dropping.dropped > 10)
        let (changes, error) = await ended.read()
        #expect(error?.kind == .readerTooSlow && changes.count == 10)
        rig.socket.heal()
        rig.scheduler.advance(by: .seconds(2))
        #expect(rig.socket.isReading, "nobody is waited for")
    }

    @Test func `A second slow stream gets the full pause limit, too, before it ends`() async throws {
        let rig = rig { $0.pauseLimit = .seconds(5) }
        let forgotten = rig.pusher.events(buffering: StreamBuffering(limit: 10, overflow: .pauseThenDrop))
        let stream = rig.pusher.events(buffering: StreamBuffering(limit: 100))
        rig.publish(0..<50)
        rig.scheduler.advance(by: .seconds(5))
        rig.publish(50..<5_000)
        #expect(!rig.socket.isReading)
        rig.scheduler.advance(by: .seconds(5))
        #expect(rig.socket.isReading)
        let (events, error) = await stream.read()
        #expect(events.count == 100 && error != nil, "no more than there is room for was held")
        #expect(forgotten.dropped == 4_990)
    }

    @Test func `The socket reads again when a full stream is released`() {
        let rig = rig()
        do {
            let stream = rig.pusher.events(buffering: StreamBuffering(limit: 5))
            rig.publish(0..<50)
            #expect(!rig.socket.isReading)
            _ = stream.dropped
        }
        #expect(rig.socket.isReading)
    }

    @Test func `The log names the stream and the channel that weren't read in time`() async {
        let lines = Locked<[String]>([])
        let rig = ClientRig.connected { ($0.logger, $0.pauseLimit) = (LineRecorder.logger(lines), .seconds(5)) }
        let news = rig.pusher.subscribe("news")
        let forgotten = [
            news.events(named: "n", buffering: StreamBuffering(limit: 1)),
            news.events(buffering: StreamBuffering(limit: 1, overflow: .pauseThenDrop)),
        ]
        let read = rig.pusher.events
        rig.publish(0..<1)
        rig.scheduler.advance(by: .seconds(5))
        let late = lines.withLock { $0.filter { $0.contains("not read in time") } }
        #expect(late.count == 2 && late.allSatisfy { $0.contains("channel=news") })
        #expect(late.first?.contains("the stream of events named n of news") == true, "\(late)")
        withExtendedLifetime((forgotten, read)) {}
    }
}
