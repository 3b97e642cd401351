import Foundation
import Processes
import TestSupport
import Testing

@testable import PusherChannels

@Suite(.timeLimit(.lost)) struct PoolStreamTests {
    /// A shutdown may come while the pool still has other steps to carry out.
    @Test func `A stream that is finished before its pool added a client ends its reader, and takes no client`() {
        let (reading, ended) = (PoolReading(), Locked(0))
        reading.ask(reading.makeReaderNumber()) { batch, _ in
            ended.withLock { $0 += batch.elements.isEmpty && batch.failure == nil ? 1 : 0 }
        }
        reading.finish()
        #expect(ended.withLock { $0 } == 1)
        reading.ask(reading.makeReaderNumber()) { _, _ in ended.withLock { $0 += 1 } }
        #expect(ended.withLock { $0 } == 2)
    }

    @Test func `A pool's stream has the updates of all connections`() async throws {
        let rig = PoolRig()
        let updates = rig.pool.updates
        rig.pool.subscribe(PoolRig.names(30))
        rig.pool.connect()
        rig.scheduler.advance(by: .seconds(1))
        rig.publish("1", to: PoolRig.names(30))
        let words = try await updates.elements(60).map(\.word)
        #expect(words.sorted() == PoolRig.names(30).flatMap { ["\($0) 1", "\($0) subscribed"] }.sorted())
    }

    @Test func `A pool's second stream begins with a gap of each channel`() async throws {
        let rig = PoolRig.connected()
        var updates: PusherStream<PoolUpdate>? = rig.pool.updates
        rig.publish("1", to: PoolRig.names(30))
        updates = nil
        _ = updates
        var gaps: [String] = []
        for try await update in rig.pool.updates {
            guard case .eventsMayBeMissing(let gap) = update.update else { continue }
            #expect(gap.reason == .betweenStreams)
            gaps.append(update.channelName)
            if gaps.count == 30 { break }
        }
        #expect(gaps.sorted() == PoolRig.names(30).sorted())
    }

    @Test func `A pool's second stream begins with a gap since the event on which the first loop threw`() async throws {
        let rig = PoolRig.connected(connections: 1, channels: 1)
        await #expect(throws: CancellationError.self) {
            let updates = rig.pool.updates
            rig.publish("1", to: PoolRig.names(1))
            for try await update in updates {
                guard case .event = update.update else { continue }
                rig.scheduler.advance(by: .seconds(5))
                rig.publish("2", to: PoolRig.names(1))
                throw CancellationError()
            }
        }
        rig.scheduler.advance(by: .seconds(10))
        var updates = rig.pool.updates.makeAsyncIterator()
        guard case .eventsMayBeMissing(let gap)? = try await updates.next()?.update else { throw CancellationError() }
        #expect((15.0...16).contains(-gap.since.timeIntervalSinceNow), "it is behind the event that was not handled")
    }

    @Test func `A waiting reader of a pool's stream is woken by any connection`() async throws {
        let rig = PoolRig.connected()
        let updates = rig.pool.updates
        let reading = Task { try await updates.elements(3).map(\.word) }
        let names = (0..<3).map { rig.names(of: $0)[0] }
        rig.publish("1", to: names)
        #expect(try await reading.value.sorted() == names.map { "\($0) 1" }.sorted())
    }

    /// Each connection waits only for its own readers.
    @Test func `An unread stream of a channel pauses only that channel's connection`() async throws {
        let rig = PoolRig.connected()
        let slow = try #require(rig.pool.channel(named: rig.names(of: 1)[0]))
        let events = slow.events(buffering: StreamBuffering(limit: 5))
        for number in 0..<10 { rig.publish("\(number)", to: PoolRig.names(30)) }
        #expect(rig.isReading == [true, false, true])
        var iterator = events.makeAsyncIterator()
        for number in 0..<10 { #expect(try await iterator.next()?.data == "\(number)") }
        #expect(rig.isReading == [true, true, true])
    }

    @Test func `A busy connection doesn't starve another one in a pool's stream`() async throws {
        let rig = PoolRig.connected()
        let updates = rig.pool.updates
        let (busy, quiet) = (rig.names(of: 0)[0], rig.names(of: 1)[0])
        var iterator = updates.makeAsyncIterator()
        rig.publish("1", to: [busy])
        #expect(try await iterator.next()?.channelName == busy)
        rig.publish("1", to: [quiet])
        var read: [String?] = []
        for _ in 0..<3 {
            rig.publish("1", to: [busy])
            read.append(try await iterator.next()?.channelName)
        }
        #expect(read.contains(quiet))
    }

    @Test func `Elements left by an iterator come before later ones, even if the channel has moved`() async throws {
        let rig = PoolRig.connected(connections: 2)
        let updates = rig.pool.updates
        let name = rig.names(of: 1)[0]
        for number in 0..<3 { rig.publish("\(number)", to: [name]) }
        do {
            var first = updates.makeAsyncIterator()
            for number in 0..<2 { #expect(try await first.next()?.word == "\(name) \(number)") }
            rig.publish("3", to: [name])
            rig.pool.resize(to: 1)
        }
        #expect(try await updates.elements(2).map(\.word) == ["\(name) 2", "\(name) 3"])
    }

    @Test func `A reader that is too slow gets an error that names the stream of updates`() async throws {
        let rig = PoolRig.connected(connections: 2) { $0.pauseLimit = .seconds(20) }
        var iterator = rig.pool.updates.makeAsyncIterator()
        for number in 0..<1200 { rig.publish("\(number)", to: [rig.names(of: 1)[0]]) }
        rig.scheduler.advance(by: .seconds(21))
        let error = await #expect(throws: PusherError.self) { while try await iterator.next() != nil {} }
        #expect(error?.kind == .readerTooSlow)
        #expect(error?.message.contains("the stream of updates") == true, "\(error?.message ?? "")")
        #expect(try await iterator.next() == nil)
    }

    @Test func `The loop of a canceled reader ends, and later elements go to the next reader`() async throws {
        let rig = PoolRig.connected()
        let updates = rig.pool.updates
        let reading = Task { for try await _ in updates {} }
        reading.cancel()
        try await reading.value
        rig.publish("1", to: ["prices-0"])
        #expect(try await updates.elements(1).map(\.word) == ["prices-0 1"], "the stream goes on")
    }

    @Test func `A canceled reader still gets the elements that waited when it was canceled`() async throws {
        let rig = PoolRig.connected(connections: 2)
        let updates = rig.pool.updates
        for connection in 0..<2 { for word in ["1", "2"] { rig.publish(word, to: [rig.names(of: connection)[0]]) } }
        let reading = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await updates.elements().count
        }
        #expect(try await reading.value == 4)
    }

    @Test func `A released stream no longer pauses its connections`() throws {
        let rig = PoolRig.connected(connections: 1, channels: 1)
        var updates: PusherStream<PoolUpdate>? = rig.pool.updates
        for number in 0..<1200 { rig.publish("\(number)", to: ["prices-0"]) }
        #expect(rig.isReading == [false] && updates?.dropped == 0)
        updates = nil
        #expect(rig.isReading == [true])
    }
}
