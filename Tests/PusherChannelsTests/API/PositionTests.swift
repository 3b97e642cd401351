import Foundation
import PusherChannels
import TestSupport
import Testing

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

    @Test(
        arguments: [
            #"{"stream_id":"s","serial":-1}"#, #"{"stream_id":"","serial":1}"#, #"{"serial":1}"#, "[]",
            #"{"stream_id":"\#(String(repeating: "s", count: 101))","serial":1}"#,
        ])
    func `A stored position that makes no sense isn't decoded`(json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(StreamPosition.self, from: Data(json.utf8)) }
    }

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
