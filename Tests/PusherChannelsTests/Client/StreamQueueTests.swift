import Foundation
import TestSupport
import Testing

@testable import PusherChannels

/// The elements that wait for the readers of one stream, as a value.
@Suite struct StreamQueueTests {
    private func queue(_ elements: Int...) -> StreamQueue<Int> {
        var queue = StreamQueue<Int>(StreamBuffering()) { $0 }
        for element in elements { queue.append(element, at: .origin) }
        return queue
    }

    @Test func whatIsPutBackIsTakenAgainWithItsBytes() throws {
        var queue = queue(3, 4)
        let batch = queue.take()
        #expect(batch?.bytes == 7)
        queue.wasRead(1, bytes: 3)
        queue.putBack(try #require(batch).elements.dropFirst(), bytes: 4)
        queue.append(5, at: .origin)
        let next = queue.take()
        #expect(next.map { Array($0.elements) } == [4, 5])
        #expect(next?.bytes == 9)
    }

    @Test func onlyAReaderThatIsAloneTakesAll() {
        var queue = queue(1, 2, 3)
        queue.iterators = 2
        let one = queue.take()
        queue.iterators = 1
        let rest = queue.take()
        #expect([one, rest].map { $0?.elements.count } == [1, 2])
    }

    private func source(of stream: PusherStream<PusherEvent>) throws -> StreamSource<PusherEvent> {
        try #require(stream.source as? StreamSource<PusherEvent>)
    }

    @Test func iteratorsThatAreGoneAreNotCounted() throws {
        let stream = ClientRig.connected().pusher.events
        let source = try source(of: stream)
        for _ in 0..<3 { _ = stream.makeAsyncIterator() }
        #expect(source.change { $0.iterators } == 0)
        let iterator = stream.makeAsyncIterator()
        #expect(source.change { $0.iterators } == 1)
        withExtendedLifetime(iterator) {}
    }

    @Test func whatAnIteratorTookAndLeftIsThereAgain() async throws {
        let rig = ClientRig.connected()
        rig.pusher.subscribe("room")
        let stream = rig.pusher.events
        for number in 0..<3 { rig.socket.publish(channel: "room", event: "n", data: "\(number)") }
        do {
            var iterator = stream.makeAsyncIterator()
            #expect(try await iterator.next()?.data == "0")
        }
        let left = try source(of: stream).change { $0.take()?.elements.map(\.data) }
        #expect(left == ["1", "2"])
    }

    @Test func aStreamEndsWithItsClient() throws {
        let source = try source(of: ClientRig.connected().pusher.events)
        #expect(source.change { $0.take()?.elements.count } == 0, "nobody has to wait for an end that has come")
    }

    @Test func aStreamMadeAfterTheEndIsAtItsEnd() {
        var streams = Streams { _ in Date() }
        streams.shutDown()
        streams.add(1, to: \.events, for: .init(), StreamBuffering())
        let batch = streams.events.change(1) { $0.take() }
        #expect(batch??.elements.count == 0)
    }
}
