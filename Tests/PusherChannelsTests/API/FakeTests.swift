import Foundation
import PusherChannels
import Testing

/// Values and streams that an app's own fake gives in the place of a client's.
@Suite struct FakeTests {
    private struct Order: Decodable, Equatable { let id: Int }

    @Test func `An event created by hand can be compared and decoded like a received one`() throws {
        let event = PusherEvent(eventName: "placed", channelName: "private-orders", data: #"{"id":7}"#, userID: "ann")
        #expect(event.eventName == "placed" && event.channelName == "private-orders" && event.userID == "ann")
        #expect(try event.decode(Order.self) == Order(id: 7))
        #expect(event != PusherEvent(eventName: "placed", channelName: "private-orders", data: "{}"))
        #expect(throws: DecodingError.self) { try PusherEvent(eventName: "placed").decode(Order.self) }
    }

    @Test func `A stream made by hand yields its elements in order and then ends`() async throws {
        let (stream, continuation) = PusherStream.makeStream(of: Int.self)
        for number in 0..<5_000 { continuation.yield(number) }
        continuation.finish()
        continuation.yield(-1)
        var seen: [Int] = []
        for try await number in stream { seen.append(number) }
        #expect(seen == Array(0..<5_000) && stream.dropped == 0)
    }

    @Test func `A hand-made stream wakes its reader and keeps elements that a leaving reader didn't take`() async throws {
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

    @Test func `Decoded streams and connection state changes can be created by hand`() async throws {
        let (events, continuation) = PusherStream.makeStream(of: PusherEvent.self)
        continuation.yield(PusherEvent(eventName: "placed", data: #"{"id":7}"#))
        continuation.finish()
        let order = try await DecodedStream<Order>(events: events).first { _ in true }
        #expect(try order?.get() == Order(id: 7))
        #expect(ConnectionStateChange(old: .connecting, new: .connected).reason == nil)
    }
}
