import Foundation
import PusherChannels
import TestSupport
import Testing

@Suite struct PusherEventTests {
    /// Returns the event that a frame is delivered as.
    private func event(_ members: String) throws -> PusherEvent {
        let rig = ClientRig.connected()
        let events = Locked<[PusherEvent]>([])
        rig.pusher.subscribe("room").bind(eventName: "news") { event in events.withLock { $0.append(event) } }
        rig.socket.serverSends(#"{"event":"news","channel":"room"\#(members)}"#)
        return try #require(events.withLock { $0 }.first)
    }

    private struct Price: Decodable, Equatable {
        let amount: Double
    }

    // Proves P2.2.
    @Test(arguments: [#""{\"amount\":1.5}""#, #"{"amount":1.5}"#])
    func `Event data is decoded alike whether it was sent as a string or as a JSON value`(data: String) throws {
        let event = try event(#","data":\#(data)"#)
        #expect(event.data == #"{"amount":1.5}"#)
        #expect(try event.decode(Price.self) == Price(amount: 1.5))
        let inferred: Price = try event.decode()
        #expect(inferred.amount == 1.5)
    }

    @Test func `Decoding an event throws if its data is missing or isn't JSON`() throws {
        for event in [try event(#","data":"no json""#), try event("")] {
            #expect(throws: DecodingError.self) { try event.decode(Price.self) }
        }
    }

    /// Sockudo sends a message id, tags and extras.
    // Proves P2.5, P2.6, P13.3, P19.22.
    @Test func `Any member of an event's frame, known or unknown, can be read as a property`() throws {
        let event = try event(
            #","data":"x","user_id":"ann","seq":7,"none":null,"message_id":"m","tags":{"k":"v"},"extras":{"h":{"k":["1"]}}"#)
        #expect(event.userID == "ann" && event.position == nil)
        let texts = ["event", "channel", "data", "user_id", "message_id"].map { event.property(withKey: $0) as? String }
        #expect(texts == ["news", "room", "x", "ann", "m"])
        #expect(event.property(withKey: "seq") as? Int == 7)
        #expect(event.property(withKey: "tags") as? [String: String] == ["k": "v"])
        #expect(event.property(withKey: "extras") as? [String: [String: [String]]] == ["h": ["k": ["1"]]])
        #expect(event.property(withKey: "none") is NSNull)
        #expect(event.property(withKey: "missing") == nil)
    }

    @Test func `An event's data property is the JSON value that the server sent`() throws {
        #expect(try event(#","data":"{}""#).property(withKey: "data") as? String == "{}")
        #expect(try event(#","data":[1]"#).property(withKey: "data") as? [Int] == [1])
        #expect(try event(#","data":7"#).property(withKey: "data") as? Int == 7)
        #expect(try event(#","data":null"#).property(withKey: "data") == nil)
    }
}

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

    @Test func `A stream made by hand yields its elements in order, keeps what a leaving reader left, and ends`() async throws {
        let (stream, continuation) = PusherStream.makeStream(of: Int.self)
        async let first = stream.elements(1)
        continuation.yield(0)
        #expect(try await first == [0], "its reader was woken")
        for number in 1..<5_000 { continuation.yield(number) }
        #expect(try await stream.elements(1) == [1])
        continuation.finish(throwing: PusherError(.timedOut, message: "gone"))
        continuation.yield(-1)
        let (rest, error) = await stream.read()
        #expect(rest == Array(2..<5_000) && error?.message == "gone" && stream.dropped == 0)
    }

    @Test func `Decoded streams and connection state changes can be created by hand`() async throws {
        let (events, continuation) = PusherStream.makeStream(of: PusherEvent.self)
        continuation.yield(PusherEvent(eventName: "placed", data: #"{"id":7}"#))
        continuation.finish()
        var orders = DecodedStream<Order>(events: events).makeAsyncIterator()
        #expect(try await orders.next()?.get() == Order(id: 7))
        #expect(try await orders.next() == nil)
        #expect(ConnectionStateChange(old: .connecting, new: .connected).reason == nil)
    }
}
