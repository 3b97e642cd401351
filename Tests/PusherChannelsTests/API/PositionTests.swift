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
}
