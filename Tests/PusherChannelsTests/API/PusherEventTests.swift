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
        let (odd, empty) = (try event(#","data":"no json""#), try event(""))
        #expect(throws: DecodingError.self) { try odd.decode(Price.self) }
        #expect(throws: DecodingError.self) { try empty.decode(Price.self) }
    }

    /// Sockudo sends a message id, tags and extras.
    // Proves P2.5, P2.6, P13.3, P19.22.
    @Test func `Any member of an event's frame, known or unknown, can be read as a property`() throws {
        let event = try event(
            #","data":"x","user_id":"ann","seq":7,"none":null,"message_id":"m","tags":{"k":"v"},"extras":{"h":{"k":["1"]}}"#)
        #expect(event.userID == "ann" && event.position == nil)
        #expect(event.property(withKey: "event") as? String == "news")
        #expect(event.property(withKey: "channel") as? String == "room")
        #expect(event.property(withKey: "data") as? String == "x")
        #expect(event.property(withKey: "user_id") as? String == "ann")
        #expect(event.property(withKey: "seq") as? Int == 7)
        #expect(event.property(withKey: "message_id") as? String == "m")
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
