import Foundation
import TestSupport
import Testing

@testable import PusherChannels

extension TestHarness {
    fileprivate func sockudo(after positions: [String: StreamPosition] = [:]) -> Pusher {
        makePusher { ($0.protocol, $0.resumeFrom) = (.sockudo, positions) }
    }

    fileprivate func publish(_ numbers: ClosedRange<Int>) {
        for number in numbers { server.publish(channel: "orders", event: "placed", data: "\(number)") }
    }
}

/// A position that is stored with what an event changed, for the next process.
struct PositionTests {
    private func withSockudo<Result: Sendable>(
        profile: ServerProfile = .sockudoV2, time: TestExecutor.Time = .manual, allowing: Set<Finding.Kind> = [.unheard],
        _ body: @escaping @Sendable (TestHarness, Pusher) async throws -> Result
    ) async throws -> Result {
        try await withTestHarness(profile: profile, allowing: allowing) { harness in
            try await harness.makeExecutor().run(time: time) { _ in try await body(harness, harness.sockudo()) }
        }
    }

    @Test func `A stored position lets the next process continue after the last handled event`() async throws {
        try await withSockudo { harness, first in
            let updates = first.updates(of: "orders")
            first.connect()
            harness.publish(1...3)
            var stored = Data()
            for try await update in updates {
                guard case .event(let event) = update, event.data == "2" else { continue }
                stored = try JSONEncoder().encode(event.position)
                break
            }
            await first.shutdown()
            harness.publish(4...5)
            let second = harness.sockudo()
            let position = try JSONDecoder().decode(StreamPosition.self, from: stored)
            let later = second.updates(of: "orders", after: position)
            second.connect()
            let words = try await later.words(until: "subscribed")
            #expect(words == ["placed 3", "placed 4", "placed 5", "recovered 3", "subscribed"])
        }
    }

    @Test(arguments: [1, 2, 5])
    func `A followed channel's first state comes after the events since a stored position`(missed: Int) async throws {
        try await withSockudo { harness, first in
            let updates = first.updates(of: "orders")
            first.connect()
            for try await update in updates {
                if case .event = update { break }
                harness.publish(1...1)
            }
            let positions = first.positions
            await first.shutdown()
            harness.publish(2...1 + missed)
            let second = harness.sockudo(after: positions)
            var steps = second.follow("orders") { 7 }.makeAsyncIterator()
            second.connect()
            #expect(try await steps.next().map(Following.word) == "state 7 first")
            harness.publish(100...100)
            #expect(try await steps.next().map(Following.word) == "event 100")
        }
    }

    /// The clients of a node that hung notice nothing of it.
    // Proves P19.12.
    @Test func `What a node wasn't told of is read from the history, once a later event shows the hole`() async throws {
        var profile = ServerProfile.sockudoV2
        profile.sockudoV2?.nodes = 2
        let words = try await withSockudo(profile: profile, time: .automatic, allowing: []) { harness, pusher in
            let updates = pusher.updates(of: "orders")
            pusher.connect()
            return try await updates.words(count: 21) { update in
                guard case .subscribed = update else { return }
                for number in 1...20 {
                    harness.server.nodesHearEachOther = !(3...18).contains(number)
                    harness.publish(number...number)
                }
            }
        }
        let published = ["subscribed"] + (1...20).map { "placed \($0)" }
        #expect(Set(words) == Set(published) && words != published, "the missed ones come late: \(words)")
    }

    @Test(
        arguments: [
            #"{"stream_id":"s","serial":-1}"#, #"{"stream_id":"","serial":1}"#, #"{"serial":1}"#, "[]",
            #"{"stream_id":"\#(String(repeating: "s", count: 101))","serial":1}"#, #"{"stream_id":"s","serial":1,"seen":[1]}"#,
            #"{"stream_id":"s","serial":1,"seen":[321]}"#, #"{"stream_id":"s","serial":9223372036854775807,"seen":[1]}"#,
        ])
    func `A stored position that makes no sense isn't decoded`(json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(StreamPosition.self, from: Data(json.utf8)) }
    }

    // MARK: All channels

    // Proves P19.23, P19.24.
    @Test func `The next process gets what waited for a reader, and not what a reader took`() async throws {
        try await withSockudo { harness, first in
            let updates = first.updates(of: "orders")
            first.subscribe("prices").bind(eventName: "seen") { _ in }
            first.connect()
            _ = try await updates.words(until: "placed 3") { update in
                guard case .event(let event) = update else { return harness.publish(1...5) }
                #expect(first.positions["orders"]?.serial ?? .max <= Int(event.data ?? "") ?? 0)
            }
            #expect(first.positions["orders"]?.serial == 3, "the loop has ended, and two events wait")
            await first.shutdown()
            #expect(first.positions.keys.sorted() == ["orders"], "closures may not have been called yet")
            let stored = try JSONEncoder().encode(first.positions)
            let positions = try JSONDecoder().decode([String: StreamPosition].self, from: stored)
            let second = harness.sockudo(after: positions)
            #expect(second.positions == positions, "it has them until the channel is asked for")
            let later = second.updates(of: "orders")
            second.connect()
            let words = try await later.words(until: "subscribed")
            #expect(words.filter { $0.hasPrefix("placed") } == ["placed 4", "placed 5"])
            #expect(second.positions["orders"]?.serial == 5)
        }
    }

    // Proves P19.23.
    @Test func `In a flood, a position is at most 16 events behind its reader`() async throws {
        try await withSockudo(allowing: []) { harness, pusher in
            let updates = pusher.updates(of: "orders")
            pusher.connect()
            var behind: [Int] = []
            _ = try await updates.words(until: "placed 100") { update in
                guard case .event(let event) = update else { return harness.publish(1...100) }
                behind.append((Int(event.data ?? "") ?? 0) - (pusher.positions["orders"]?.serial ?? 0))
            }
            await pusher.shutdown()
            #expect(behind.count == 100 && behind.max() ?? 0 <= 16, "\(behind)")
        }
    }

    // Proves P19.23.
    @Test func `A position names the events that were read out of order, which are not read again`() throws {
        var place = ReadPlace(SerialWindow(after: StreamPosition(stream: "s", serial: 5)), mayMiss: true)
        for serial in [6, 8, 10] { place.read(StreamPosition(stream: "s", serial: serial)) }
        let position = try #require(place.position)
        #expect(position == StreamPosition(stream: "s", serial: 6, seen: [8, 10]))
        let stored = try JSONDecoder().decode(StreamPosition.self, from: JSONEncoder().encode(position))
        var next = Transcript.connected { (configuration: inout ConnectionMachine.Configuration) in
            (configuration.protocol, configuration.positions) = (.sockudo, ["room": stored])
        }
        #expect(next.machine.storedPositions == ["room": position])
        next.play(.subscribe(channel: "room", auth: nil, options: SubscriptionOptions(rewind: .events(5))))
        #expect(next.succeed(serial: 10, attach: 10).sent == [.resume(["room": position])], "nothing is rewound besides")
        #expect(next.machine.storedPositions == ["room": position], "nothing is replayed yet")
        for serial in 7...10 { next.event(serial) }
        #expect(next.resumed(upTo: 10).told == ["7", "9", "recovered 2", "success", "subscribed"])
        #expect(next.machine.storedPositions.isEmpty)
        #expect(next.subscribeAgain(serial: 10, attach: 10).sent == [.resume(["room": StreamPosition(stream: "s", serial: 10)])])
    }

    // Proves P19.23.
    @Test func `Of two readers of a channel, the one that is behind counts, also in another stream`() {
        func place(_ serials: Int..., in stream: Name = "s", after: ReadPlace? = nil) -> ReadPlace {
            var place = after ?? ReadPlace(SerialWindow(after: StreamPosition(stream: stream, serial: 1)), mayMiss: true)
            for serial in serials { place.read(StreamPosition(stream: stream, serial: serial)) }
            return place
        }
        let (behind, ahead) = (place(2, 4), place(2, 3, 4, 5))
        for first in [behind.earlier(ahead), ahead.earlier(behind)] {
            #expect(first.position == StreamPosition(stream: "s", serial: 2), "the other one may not have read 4")
        }
        let anew = place(1, in: "t", after: ahead)
        #expect(anew.earlier(behind).position?.stream == "s" && behind.earlier(anew).position?.stream == "s")
        let last = place(1, in: "u", after: anew)
        for first in [anew, last] {
            #expect(first.earlier(last).earlier(behind).position?.stream == "s", "of three readers, too")
        }
        #expect(ReadPlace(nil, mayMiss: true).earlier(ahead).position == nil, "it hasn't read any of the past")
    }

    // Proves P19.23.
    @Test(arguments: [StreamBuffering.Overflow.dropNewest, .dropOldest, .pauseThenEnd])
    func `What a stream dropped or hasn't told yet is behind its position`(overflow: StreamBuffering.Overflow) async throws {
        try await withSockudo { harness, pusher in
            let updates = pusher.updates(of: "orders", buffering: StreamBuffering(limit: 2, overflow: overflow))
            pusher.connect()
            _ = try await updates.words(until: "placed 1") { if case .subscribed = $0 { harness.publish(1...1) } }
            harness.publish(2...9)
            harness.server.loseStreams(of: "orders")
            for id in harness.server.subscribers(of: "orders") { harness.server.close(id, code: 4200) }
            harness.scheduler.advance(by: .seconds(60))
            harness.server.publish(channel: "orders", event: "placed", data: "anew")
            #expect(pusher.positions["orders"]?.serial == 1)
            withExtendedLifetime(updates) {}
        }
    }

    // Proves P19.23.
    @Test func `A stream that ends early holds the position back until another one begins`() async throws {
        try await withSockudo { harness, pusher in
            var log = pusher.events.makeAsyncIterator()
            var orders = Optional(pusher.updates(of: "orders").makeAsyncIterator())
            pusher.connect()
            while case .event? = try await orders?.next() {}
            harness.publish(1...3)
            while try await log.next()?.data != "3" {}
            #expect(pusher.positions["orders"]?.serial == 0)
            orders = nil
            #expect(pusher.positions["orders"]?.serial == 0)
            let again = pusher.updates(of: "orders")
            #expect(pusher.positions["orders"]?.serial == 3, "it is told that something may be missing")
            await pusher.shutdown()
            #expect(pusher.positions["orders"]?.serial == 3)
            withExtendedLifetime(again) {}
        }
    }

    // MARK: The past

    // Proves P19.17, P19.18.
    @Test func `A service begins with the latest events of a channel, and only those that it wants`() async throws {
        let words = try await withSockudo { harness, pusher in
            func publish(_ name: String, _ data: String) {
                harness.server.publish(channel: "orders", event: name, data: data)
            }
            for (number, name) in ["placed", "placed", "seen", "placed"].enumerated() { publish(name, "\(number)") }
            let updates = pusher.updates(of: "orders", rewind: .events(3), filter: .events("placed"))
            pusher.connect()
            return try await updates.words(until: "placed live") { update in
                guard case .event(let event) = update, event.eventName == "sockudo:rewind_complete" else { return }
                for name in ["seen", "placed"] { publish(name, "live") }
            }
        }
        let told = words.map { String($0.prefix { $0 != "{" }) }
        #expect(told == ["subscribed", "placed 1", "placed 3", "sockudo:rewind_complete ", "placed live"])
    }

    // Proves P15.19, P19.17.
    @Test func `An event published with tags reaches a client whose filter they meet, and no other event does`() async throws {
        try await withSockudo(allowing: []) { harness, pusher in
            let api = PusherHTTPAPI(
                appID: "1", key: "local-key", secret: "local-secret", environment: harness.pusherEnvironment())
            let updates = pusher.updates(of: "orders", filter: .tags(.equal("urgency", "high")))
            pusher.connect()
            var from: String?
            let words = try await updates.words(until: "placed 2") { update in
                switch update {
                case .subscribed:
                    for tags in [["urgency": "low"], [:], ["urgency": "high", "from": "ann"]] as [[String: String]] {
                        try await api.trigger(channels: ["orders"], eventName: "placed", data: "\(tags.count)", tags: tags)
                    }
                case .event(let event): from = (event.property(withKey: "tags") as? [String: String])?["from"]
                default: break
                }
            }
            #expect(words.filter { $0.hasPrefix("placed") } == ["placed 2"] && from == "ann")
        }
    }
}
