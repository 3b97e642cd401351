import Foundation
import TestSupport
import Testing

@testable import PusherChannels

/// A position that is stored with what an event changed, for the next process.
struct PositionTests {
    @Test func `A stored position lets the next process continue after the last handled event`() async throws {
        try await withTestHarness(profile: .sockudoV2, allowing: [.unheard]) { harness in
            let executor = harness.makeExecutor()
            @Sendable func publish(_ numbers: ClosedRange<Int>) {
                for number in numbers { harness.server.publish(channel: "orders", event: "placed", data: "\(number)") }
            }
            let stored = try await executor.run { _ in
                let pusher = harness.makePusher { $0.protocol = .sockudo }
                let updates = pusher.updates(of: "orders")
                pusher.connect()
                publish(1...3)
                for try await update in updates {
                    guard case .event(let event) = update, event.data == "2" else { continue }
                    await pusher.shutdown()
                    return try JSONEncoder().encode(event.position)
                }
                return Data()
            }
            publish(4...5)
            let position = try JSONDecoder().decode(StreamPosition.self, from: stored)
            let seen = try await executor.run { _ in
                let pusher = harness.makePusher { $0.protocol = .sockudo }
                let updates = pusher.updates(of: "orders", after: position)
                pusher.connect()
                var seen: [String] = []
                for try await update in updates {
                    switch update {
                    case .event(let event) where event.eventName == "placed": seen.append(event.data ?? "")
                    case .recovered(let count): seen.append("recovered \(count)")
                    case .subscribed: return seen
                    default: break
                    }
                }
                return seen
            }
            #expect(seen == ["3", "4", "5", "recovered 3"])
        }
    }

    /// The clients of a node that hung notice nothing of it.
    // Proves P19.12.
    @Test func `What a node wasn't told of is read from the history, once a later event shows that something is missing`()
        async throws
    {
        var profile = ServerProfile.sockudoV2
        profile.sockudoV2?.nodes = 2
        try await withTestHarness(profile: profile) { harness in
            let seen = try await harness.makeExecutor().run(time: .automatic) { _ in
                let pusher = harness.makePusher { $0.protocol = .sockudo }
                let updates = pusher.updates(of: "orders")
                pusher.connect()
                var seen: [String] = []
                for try await update in updates {
                    switch update {
                    case .subscribed:
                        for number in 1...20 {
                            harness.server.nodesHearEachOther = !(3...18).contains(number)
                            harness.server.publish(channel: "orders", event: "placed", data: "\(number)")
                        }
                    case .event(let event): seen.append(event.data ?? "")
                    default: seen.append("\(update)")
                    }
                    if seen.count == 20 { break }
                }
                return seen
            }
            let published = (1...20).map { "\($0)" }
            #expect(Set(seen) == Set(published) && seen != published, "the missed ones come late: \(seen)")
        }
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
        try await withTestHarness(profile: .sockudoV2, allowing: [.unheard]) { harness in
            let executor = harness.makeExecutor()
            let stored = try await executor.run { _ in
                let pusher = harness.makePusher { $0.protocol = .sockudo }
                let updates = pusher.updates(of: "orders")
                pusher.subscribe("prices").bind(eventName: "seen") { _ in }
                pusher.connect()
                for try await update in updates {
                    guard case .event(let event) = update else {
                        for number in 1...5 { harness.server.publish(channel: "orders", event: "placed", data: "\(number)") }
                        continue
                    }
                    #expect(pusher.positions["orders"]?.serial == Int(event.data ?? ""))
                    if event.data == "3" { break }
                }
                #expect(pusher.positions["orders"]?.serial == 3, "the loop has ended, and two events wait")
                await pusher.shutdown()
                #expect(pusher.positions.keys.sorted() == ["orders"], "closures may not have been called yet")
                return try JSONEncoder().encode(pusher.positions)
            }
            let positions = try JSONDecoder().decode([String: StreamPosition].self, from: stored)
            let seen = try await executor.run { _ in
                let pusher = harness.makePusher { ($0.protocol, $0.resumeFrom) = (.sockudo, positions) }
                #expect(pusher.positions == positions, "it has them until the channel is asked for")
                let updates = pusher.updates(of: "orders")
                pusher.connect()
                var seen: [String] = []
                for try await update in updates {
                    if case .event(let event) = update { seen.append(event.data ?? "") }
                    if case .subscribed = update { break }
                }
                return seen + [pusher.positions["orders"].map { "\($0.serial)" } ?? ""]
            }
            #expect(seen == ["4", "5", "5"])
        }
    }

    // Proves P19.23.
    @Test func `A position names the events that were read out of order, which are not read again`() throws {
        var transcript = Transcript.sockudo(attach: 5)
        for serial in [6, 8, 10] { transcript.event(serial) }
        #expect(transcript.machine.positions(unread: [:], isRead: { _ in false }).isEmpty)
        let unread = ["room": [StreamPosition(stream: "s", serial: 8), StreamPosition(stream: "other", serial: 1)]] as [Name: _]
        let place = try #require(transcript.machine.positions(unread: unread, isRead: { _ in true })["room"])
        #expect(place == StreamPosition(stream: "s", serial: 6, seen: [10]))
        let stored = try JSONDecoder().decode(StreamPosition.self, from: JSONEncoder().encode(place))
        var next = Transcript.connected { ($0.protocol, $0.positions) = (.sockudo, ["room": stored]) }
        next.play(.subscribe(channel: "room", auth: nil))
        #expect(next.succeed(serial: 10, attach: 10).sent == [.resume(["room": place])])
        #expect(next.machine.positions(unread: [:], isRead: { _ in false })["room"] == place, "nothing is replayed yet")
        for serial in 7...10 { next.event(serial) }
        #expect(next.resumed(upTo: 10).told == ["7", "8", "9", "recovered 3", "success", "subscribed"])
        #expect(next.subscribeAgain(serial: 10, attach: 10).sent == [.resume(["room": StreamPosition(stream: "s", serial: 10)])])
    }

    // Proves P19.23.
    @Test func `An event that waits to be decrypted counts as unread, also at the end of the client`() {
        var transcript = Transcript.connected { $0.protocol = .sockudo }
        transcript.play(.subscribe(channel: "private-encrypted-e", auth: PusherAuth(auth: "k:s", sharedSecret: "secret")))
        transcript.succeed("private-encrypted-e", serial: 1, attach: 1)
        for serial in 2...3 { transcript.event(serial, on: "private-encrypted-e") }
        let serials = { transcript.machine.positions(unread: [:], isRead: { _ in true }).values.map(\.serial) }
        #expect(serials() == [1])
        transcript.play(.shutDown)
        #expect(serials() == [1])
    }

    // MARK: The past

    // Proves P19.17, P19.18.
    @Test func `A service begins with the latest events of a channel, and only those that it wants`() async throws {
        try await withTestHarness(profile: .sockudoV2, allowing: [.unheard]) { harness in
            for (number, name) in ["placed", "placed", "seen", "placed"].enumerated() {
                harness.server.publish(channel: "orders", event: name, data: "\(number)")
            }
            let seen = try await harness.makeExecutor().run { _ in
                let pusher = harness.makePusher { $0.protocol = .sockudo }
                let updates = pusher.updates(of: "orders", rewind: .events(3), filter: .events("placed"))
                pusher.connect()
                var seen: [String] = []
                for try await update in updates {
                    switch update {
                    case .subscribed: seen.append("subscribed")
                    case .event(let event) where event.eventName == "sockudo:rewind_complete":
                        seen.append("rewound")
                        for name in ["seen", "placed"] { harness.server.publish(channel: "orders", event: name, data: name) }
                    case .event(let event): seen.append(event.data ?? "")
                    default: seen.append("\(update)")
                    }
                    if seen.last == "placed" { break }
                }
                return seen
            }
            #expect(seen == ["subscribed", "1", "3", "rewound", "placed"])
        }
    }

    // Proves P15.19, P19.17.
    @Test func `An event published with tags reaches a client whose filter they meet, and no other event does`() async throws {
        try await withTestHarness(profile: .sockudoV2) { harness in
            let seen = try await harness.makeExecutor().run { _ in
                let pusher = harness.makePusher { $0.protocol = .sockudo }
                let api = PusherHTTPAPI(
                    appID: "1", key: "local-key", secret: "local-secret", environment: harness.pusherEnvironment())
                let updates = pusher.updates(of: "orders", filter: .tags(.equal("urgency", "high")))
                pusher.connect()
                var seen: [String] = []
                for try await update in updates {
                    switch update {
                    case .subscribed:
                        let published: [[String: String]] = [["urgency": "low"], [:], ["urgency": "high", "from": "ann"]]
                        for tags in published {
                            try await api.trigger(channels: ["orders"], eventName: "placed", data: "\(tags.count)", tags: tags)
                        }
                    case .event(let event):
                        let tags = event.property(withKey: "tags") as? [String: String]
                        seen.append("\(event.data ?? "") of \(tags?["from"] ?? "nobody")")
                    default: break
                    }
                    if !seen.isEmpty { break }
                }
                return seen
            }
            #expect(seen == ["2 of ann"])
        }
    }

    // Proves P19.17.
    @Test func `On protocol 7 a rewind or a filter ends the stream, and says which protocol it needs`() async throws {
        try await withTestHarness { harness in
            try await harness.makeExecutor().run { _ in
                let pusher = harness.makePusher()
                pusher.connect()
                for updates in [
                    pusher.updates(of: "orders", rewind: .events(1)), pusher.updates(of: "orders", filter: .events("placed")),
                ] {
                    let error = await #expect(throws: PusherError.self) { for try await _ in updates {} }
                    #expect(error?.kind == .invalidRequest)
                    #expect(error?.message.contains("PusherClientOptions.protocol") == true)
                }
            }
        }
    }
}
