import ArgumentParser
import Foundation
import Processes
import PusherChannels

/// A command that takes one client through one scenario after another, with a rest between them.
struct Soak: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Have one client live through scenarios in random order; prints what it holds, a line of JSON each second.")

    @Option(help: "How long.") var seconds: Int
    @Option(help: "What the order is drawn from.") var seed: UInt64 = 1
    @Option(help: "How many seconds lie between two scenarios.") var rest = 3
    @Option(help: "How many milliseconds lie between two events.") var interval = 1
    @Option(help: "The library that is made of world.c.") var world: String

    func run() async throws {
        let site = try await Site(.tls, world: World(library: world), interval: .milliseconds(interval))
        let sampling = Task { await sample(site) }
        do {
            try await happen(at: site)
        } catch {
            report(Problem(problem: "\(error)"))
        }
        sampling.cancel()
        await site.stop()
    }

    private func happen(at site: Site) async throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        var random = SplitMix64(seed: seed)
        await site.feed.wait { $0.ledger.hasReached(10) }
        while clock.now < end {
            try await site.hold(.seconds(rest))
            guard let scenario = Scenario.outside.randomElement(using: &random) else { return }
            let recovery = try await withWatchdog { try await site.goThrough(scenario) }
            try await site.heal()
            report(Step(scenario: scenario.name, recovery: recovery / .seconds(1)))
        }
    }

    private func sample(_ site: Site) async {
        let clock = ContinuousClock()
        let start = clock.now
        var next = start
        while !Task.isCancelled {
            let state = await site.feed.state
            let id = site.client.id
            report(
                Sample(
                    second: (next - start).components.seconds, events: state.events, missed: state.ledger.missed,
                    connections: state.heard.count { $0 == .state("connected") },
                    residentKiB: (try? ProcessTables.residentMemory(of: id, atMost: false)) ?? 0,
                    descriptors: ProcessTables.descriptors(of: id), threads: ProcessTables.threads(of: id),
                    findings: state.ledger.findings.prefix(10).map { "\($0.channel): \($0.description)" }))
            next += .seconds(1)
            try? await clock.sleep(until: next)
        }
    }

    private struct Problem: Encodable {
        let problem: String
    }

    private struct Step: Encodable {
        let scenario: String
        let recovery: Double
    }

    private struct Sample: Encodable {
        let second: Int64
        let events: Int
        let missed: Int
        let connections: Int
        let residentKiB: Int
        let descriptors: Int
        let threads: Int
        let findings: [String]
    }

    private func report(_ value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        guard let line = try? encoder.encode(value) else { return }
        FileHandle.standardOutput.write(line + Data("\n".utf8))
    }
}
