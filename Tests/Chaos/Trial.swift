import Foundation
import Processes
import PusherChannels

/// A single run of a scenario.
struct Trial: Sendable {
    let scenario: Scenario
    let way: Site.Way
    /// The path of the library that simulates the client's environment.
    let library: String
    /// The number of seconds that the client may take to recover before the trial is abandoned.
    let patience = 15

    struct Result: Sendable {
        /// The time from the end of the fault until every channel received an event sent after it.
        let recovery: Duration
        /// The largest number of events that any channel missed.
        let missed: Int
        /// The kinds of the errors that the client reported, each with the first message of that kind.
        let errors: [String: String]
        let findings: [String]
    }

    func run() async throws -> Result {
        let site = try await Site(
            way, world: World(library: library), asOtherUser: scenario.asOtherUser, isFollowed: scenario.isFollowed)
        do {
            let result = try await withWatchdog(seconds: patience) { try await run(at: site) }
            await site.stop()
            return result
        } catch let skipped as Skipped {
            await site.stop()
            throw skipped
        } catch {
            await site.stop()
            let heard = await site.feed.state.heard.suffix(12).map { "\($0)" }
            throw Trouble("\(error); it had heard at last:\n    " + (heard + site.client.errors.all).joined(separator: "\n    "))
        }
    }

    private func run(at site: Site) async throws -> Result {
        await site.feed.wait { $0.ledger.hasReached(10) }
        let before = await site.feed.state.heard.count
        let recovery = try await site.goThrough(scenario)
        // Waits a little longer for events that arrive late or twice.
        let number = await site.feed.state.ledger.nextNumber
        await site.feed.wait { $0.ledger.hasReached(number + 10) }
        if scenario.isFollowed {
            await site.feed.wait { state in
                state.heard.dropFirst(before).contains { if case .copied(_, "reconnected") = $0 { true } else { false } }
            }
        }
        return result(await site.feed.state, before: before, recovery: recovery)
    }

    private func result(_ state: Feed.State, before: Int, recovery: Duration) -> Result {
        let heard = state.heard.dropFirst(before)
        var findings = state.ledger.findings.map { "\($0.channel): \($0.description)" }
        let wasLost = heard.contains { $0 == .state("connecting") }
        switch scenario.outcome {
        case .stays where wasLost: findings.append("the connection was lost")
        case .stays where state.ledger.missed > 0: findings.append("\(state.ledger.missed) events were lost")
        case .isRemade where !wasLost: findings.append("the connection was not lost")
        default: break
        }
        var errors: [String: String] = [:]
        for case .error(let kind, let message) in heard where errors[kind] == nil { errors[kind] = message }
        for case .subscriptionFailed(let channel, let message) in heard where errors[message] == nil { errors[message] = channel }
        return Result(recovery: recovery, missed: state.ledger.missed, errors: errors, findings: findings)
    }
}

struct Trouble: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
