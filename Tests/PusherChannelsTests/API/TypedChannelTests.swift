import Foundation
import TestSupport
import Testing

@testable import PusherChannels

/// One enum for those who publish a channel's events and those who read them.
@Suite(.timeLimit(.lost)) struct TypedChannelTests {
    struct Order: Codable, Equatable, Sendable {
        var orderID: Int
        var date: Date?
    }

    enum OrderEvent: ChannelEvents, Equatable {
        case orderPlaced(Order)
        case count(Int?)
        case moved(from: String, to: String?)
        case closed
        case typing(name: String)
        case odd(Int, by: String)

        enum CodingKeys: String, CodingKey {
            case orderPlaced, count, moved, closed, odd
            case typing = "client-typing"
        }
    }

    struct Unexpected: Error {}

    struct OrderKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private func read(_ name: String, _ data: String?, _ decoder: EventDecoder? = nil) -> String {
        let event = PusherEvent(envelope: Envelope(event: Name(name), channel: "private-orders", data: data), decoder: decoder)
        return switch ChannelUpdate.event(event).typed(as: OrderEvent.self) {
        case .event(let event, let message): "\(event) \(message.eventName == name)"
        case .unknown(let message): "unknown \(message.eventName)"
        case .undecodable(let message, let error): "undecodable \(message.eventName) \(type(of: error))"
        case .channel: "channel"
        }
    }

    @Test(
        arguments: [
            (.orderPlaced(Order(orderID: 7)), "orderPlaced", #"{"orderID":7}"#), (.count(5), "count", "5"),
            (.count(nil), "count", "null"), (.moved(from: "a", to: "b"), "moved", #"{"from":"a","to":"b"}"#),
            (.moved(from: "a", to: nil), "moved", #"{"from":"a"}"#), (.closed, "closed", "{}"),
            (.typing(name: "é"), "client-typing", #"{"name":"é"}"#),
        ] as [(OrderEvent, String, String)])
    func `An enum case is an event of its name with its values as data`(event: OrderEvent, name: String, data: String) throws {
        let encoded = try JSONEncoder.sorted.encodeCase(event)
        #expect((encoded.name, String(decoding: encoded.data, as: UTF8.self)) == (name, data))
        #expect(read(name, data) == "\(event) true")
    }

    @Test func `An event without a matching case is unknown, and one with unfitting data is undecodable`() {
        for (name, data, outcome) in [
            ("shipped", #"{"orderID":7}"#, "unknown shipped"), ("shipped", "no JSON", "unknown shipped"),
            ("typing", #"{"name":"é"}"#, "unknown typing"),  // What a client says isn't what the backend says.
            ("pusher:cache_miss", nil, "unknown pusher:cache_miss"),
            ("orderPlaced", "no JSON", "undecodable orderPlaced DecodingError"),
            ("orderPlaced", #"{"orderID":"7"}"#, "undecodable orderPlaced DecodingError"),
            ("orderPlaced", nil, "undecodable orderPlaced DecodingError"), ("moved", "[]", "undecodable moved DecodingError"),
            ("closed", nil, "closed true"),  // It needs no data.
            ("odd", "1", "undecodable odd DecodingError"),
        ] as [(String, String?, String)] {
            #expect(read(name, data) == outcome)
        }
        if case .channel(.subscribed) = ChannelUpdate.subscribed.typed(as: OrderEvent.self) {} else { Issue.record("lost") }
    }

    @Test func `An event whose name is a case's only in another normal form of Unicode is unknown`() throws {
        enum PlaceEvent: ChannelEvents {
            case opened
            enum CodingKeys: String, CodingKey { case opened = "caf\u{E9}" }
        }
        func typed(_ name: String) -> TypedUpdate<PlaceEvent> {
            PusherEvent(eventName: name, data: "{}").typed(as: PlaceEvent.self)
        }
        guard case .event(.opened, _) = typed("caf\u{E9}") else { throw Unexpected() }
        guard case .unknown = typed("cafe\u{301}") else { throw Unexpected() }
    }

    @Test func `A struct, a raw enum, or a case with partly labeled values can't be encoded as an event`() {
        struct Thing: ChannelEvents { var a = 1, b = 2 }
        enum Raw: String, ChannelEvents { case a }
        for event in [OrderEvent.odd(1, by: "me"), Thing(), Raw.a] as [any ChannelEvents] {
            #expect(throws: EncodingError.self) { try JSONEncoder().encodeCase(event) }
        }
    }

    @Test func `Typed events use the application's coders for data, and the cases' names as event names`() throws {
        let encoder = JSONEncoder.sorted
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .iso8601
        let placed = OrderEvent.orderPlaced(Order(orderID: 1, date: Date(timeIntervalSince1970: 0)))
        let (name, data) = try encoder.encodeCase(placed)
        #expect(name == "orderPlaced")
        #expect(String(decoding: data, as: UTF8.self) == #"{"date":"1970-01-01T00:00:00Z","order_id":1}"#)
        let decoder = EventDecoder {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            decoder.keyDecodingStrategy = .custom { path in
                path.last?.stringValue == "order_id" ? OrderKey(stringValue: "orderID") : path.last ?? OrderKey(stringValue: "")
            }
            return decoder
        }
        #expect(read(name, String(decoding: data, as: UTF8.self), decoder) == "\(placed) true")
        #expect(read("shipped", "no JSON", decoder) == "unknown shipped")
        #expect(read("closed", "{}", decoder) == "closed true")
    }

    @Test func `Typed updates give unknown and undecodable events as elements and don't end`() async throws {
        let rig = ClientRig.connected()
        let updates = rig.pusher.updates(of: "private-orders", as: OrderEvent.self)
        for (name, data) in [("orderPlaced", #"{"orderID":7}"#), ("shipped", "1"), ("count", "x")] {
            rig.socket.publish(channel: "private-orders", event: name, data: data)
        }
        rig.socket.drop()
        rig.scheduler.advance(by: .seconds(10))
        var lines: [String] = []
        for try await update in updates {
            let line =
                switch update {
                case .event(let event, let message): "\(event) \(message.channelName ?? "")"
                case .unknown(let message): "unknown \(message.eventName)"
                case .undecodable(let message, _): "undecodable \(message.eventName)"
                case .channel(let update): update.word
                }
            lines.append(line)
            if line == "reconnected" { break }
        }
        let placed = "\(OrderEvent.orderPlaced(Order(orderID: 7))) private-orders"
        #expect(lines == ["subscribed", placed, "unknown shipped", "undecodable count", "reconnected"])
        #expect(updates.dropped == 0)
    }

    @Test func `A followed channel's typed steps give unknown and undecodable events as elements`() async throws {
        let rig = ClientRig.connected()
        var steps = rig.pusher.follow("private-orders", as: OrderEvent.self) { 1 }.makeAsyncIterator()
        guard case .state(1, .first) = try await steps.next() else { throw Unexpected() }
        for (name, data) in [("closed", "{}"), ("shipped", "{}"), ("count", "x")] {
            rig.socket.publish(channel: "private-orders", event: name, data: data)
        }
        guard case .event(.closed, _) = try await steps.next() else { throw Unexpected() }
        guard case .unknown = try await steps.next() else { throw Unexpected() }
        guard case .undecodable(_, is DecodingError) = try await steps.next() else { throw Unexpected() }
    }

    @Test func `Client events are triggered as enum cases, and members' information is decoded as a type`() throws {
        struct Info: Decodable, Equatable, Sendable { let id: UInt64 }
        let rig = ClientRig.unanswered()
        let room = rig.pusher.subscribeToPresenceChannel(channelName: "presence-room")
        rig.socket.serverSendsEvent(
            "pusher_internal:subscription_succeeded", channel: "presence-room",
            data: #"{"presence":{"ids":["a","b"],"hash":{"a":{"id":18446744073709551615},"b":null},"count":2}}"#)
        let members = room.members(as: Info.self)
        #expect(members.map(\.userID) == ["a", "b"])
        #expect(try members.first?.info.get() == Info(id: .max), "integers are not rounded")
        #expect(throws: DecodingError.self) { try members.last?.info.get() }

        #expect(room.trigger(OrderEvent.typing(name: "Ann")) == .sent)
        #expect(rig.socket.sentFrames.last?.contains(#""data":{"name":"Ann"}"#) == true, "\(rig.socket.sentFrames)")
        guard case .refused = room.trigger(OrderEvent.closed) else { throw Unexpected() }
        guard case .refused(let error) = room.trigger(OrderEvent.odd(1, by: "me")) else { throw Unexpected() }
        #expect(error.message.contains("all need labels"), "\(error)")
    }

    @Test(arguments: [
        ("OrderPlaced", #"App\Events\OrderPlaced"#), ("Orders.Placed", #"App\Events\Orders\Placed"#),
        (".order.placed", "order.placed"), (#"\Shop\OrderPlaced"#, #"Shop\OrderPlaced"#), ("", #"App\Events\"#),
    ])
    func `Laravel event names are formed as Laravel Echo forms them`(name: String, wire: String) {
        #expect(LaravelEvent.name(name) == wire)
        #expect(LaravelEvent.name("Placed", namespace: "Shop") == #"Shop\Placed"#)
        #expect(LaravelEvent.whisper("typing") == "client-typing")
    }

    @Test func `The HTTP API publishes an enum case as an event and refuses one that can't be encoded`() async throws {
        let rig = APIRig()
        rig.respond()
        try await rig.api.publish(
            OrderEvent.moved(from: "a", to: "b"), to: "private-orders", excluding: "1.2", idempotencyKey: "k")
        let data = #""data":"{\"from\":\"a\",\"to\":\"b\"}","idempotency_key":"k""#
        #expect(rig.bodies == [#"{"channels":["private-orders"],\#(data),"name":"moved","socket_id":"1.2"}"#])
        let error = await #expect(throws: PusherError.self) {
            try await rig.api.publish(OrderEvent.odd(1, by: "me"), to: "private-orders")
        }
        #expect(error?.kind == .invalidRequest)
    }
}
