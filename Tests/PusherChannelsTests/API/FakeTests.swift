import Foundation
import PusherChannels
import Testing

/// Values and streams that an app's own fake gives in the place of a client's.
@Suite struct FakeTests {
    private struct Order: Decodable, Equatable { let id: Int }

    @Test func `An event made by hand is what a client's would be`() throws {
        let event = PusherEvent(eventName: "placed", channelName: "private-orders", data: #"{"id":7}"#, userId: "ann")
        #expect(event.eventName == "placed" && event.channelName == "private-orders" && event.userId == "ann")
        #expect(try event.decode(Order.self) == Order(id: 7))
        #expect(event != PusherEvent(eventName: "placed", channelName: "private-orders", data: "{}"))
        #expect(throws: DecodingError.self) { try PusherEvent(eventName: "placed").decode(Order.self) }
    }

    @Test func `A stream made by hand gives what it is given, in order, and then its end`() async throws {
        let (stream, continuation) = PusherStream.makeStream(of: Int.self)
        for number in 0..<5_000 { continuation.yield(number) }
        continuation.finish()
        continuation.yield(-1)
        var seen: [Int] = []
        for try await number in stream { seen.append(number) }
        #expect(seen == Array(0..<5_000) && stream.dropped == 0)
    }

    @Test func `A reader that waits is woken, and one that leaves takes only what it read`() async throws {
        let (stream, continuation) = PusherStream.makeStream(of: Int.self)
        async let first = stream.first { _ in true }
        continuation.yield(1)
        #expect(try await first == 1)
        continuation.yield(2)
        continuation.yield(3)
        for try await number in stream {
            #expect(number == 2)
            break
        }
        continuation.finish(throwing: PusherError(.timedOut, message: "gone"))
        #expect(try await stream.first { _ in true } == 3)
        await #expect(throws: PusherError.self) { try await stream.first { _ in true } }
    }

    @Test func `A cancelled reader ends`() async throws {
        let (stream, continuation) = PusherStream.makeStream(of: ChannelUpdate.self)
        let reader = Task { try await stream.first { _ in true } }
        reader.cancel()
        #expect(try await reader.value == nil)
        withExtendedLifetime(continuation) {}
    }

    @Test func `Decoded events and changes of a connection can be made, too`() async throws {
        let (events, continuation) = PusherStream.makeStream(of: PusherEvent.self)
        continuation.yield(PusherEvent(eventName: "placed", data: #"{"id":7}"#))
        continuation.finish()
        let order = try await DecodedStream<Order>(events: events).first { _ in true }
        #expect(try order?.get() == Order(id: 7))
        #expect(ConnectionStateChange(old: .connecting, new: .connected).reason == nil)
    }
}
