import Foundation
import TestSupport
import Testing

@testable import PusherChannels

/// Whatever goes wrong, the client ends up in the state the user wants, and no loss goes unannounced.
///
/// `ci/tools/simulate` runs more seeds, or repeats one of them.
@Suite struct SimulationTests {
    private static let from = number("SIMULATE_FROM") ?? 0
    /// Few by default: the simulations keep several cores busy while other tests watch sockets.
    private static let count = number("SIMULATE_SEEDS") ?? 200
    private static let isTraced = number("SIMULATE_TRACE") == 1
    private static let parts = 8

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    @Test(arguments: 0..<parts)
    func `Whatever goes wrong, the client ends up as the user wants and announces every gap`(part: Int) {
        var gaps = 0
        for seed in Self.from..<Self.from + Self.count where seed % UInt64(Self.parts) == UInt64(part) {
            var simulation = Simulation(seed: seed)
            simulation.isTraced = Self.isTraced
            simulation.runToTheEnd()
            gaps += simulation.oracle.gapsAnnounced
            if let problem = simulation.oracle.problem {
                Issue.record(
                    "seed \(seed): \(problem) (at \(simulation.now); again with ci/tools/simulate --from \(seed) --seeds 1)")
                return
            }
        }
        // A simulation without any gap proves nothing.
        if Self.count >= 1_000 { #expect(gaps > 0) }
    }

    /// On one node and on two, with a history and without, with the server's own faults and without: nothing is lost outside an
    /// announced gap, and nothing comes twice. Two nodes that share no history, or don't hear each other, may lose events silently.
    // Proves P19.3, P19.7, P19.9, P19.12.
    @Test(arguments: 0..<parts)
    func `With a Sockudo server, no event comes twice, and none is lost outside an announced gap`(part: Int) {
        var (gaps, replayed, lost) = (0, 0, 0)
        for seed in Self.from..<Self.from + Self.count where seed % UInt64(Self.parts) == UInt64(part) {
            var simulation = Simulation(seed: seed, ServerProfile.SockudoV2(seed: seed))
            simulation.isTraced = Self.isTraced
            simulation.runToTheEnd()
            let isOver = simulation.client.state == .connected
            for channel in Simulation.channels { simulation.oracle.settleReplays(of: channel, isOver: isOver) }
            gaps += simulation.oracle.gapsAnnounced
            replayed += simulation.oracle.replays?.count ?? 0
            lost += simulation.oracle.replays?.lost ?? 0
            if let problem = simulation.oracle.problem {
                Issue.record("seed \(seed) of protocol V2: \(problem) (at \(simulation.now))")
                return
            }
        }
        guard Self.count >= 1_000 else { return }
        #expect(gaps > 0 && replayed > 0)
        if [5, 7].contains(part) { #expect(lost > 0, "two nodes without a shared history lose events") }
    }

    @Test func `After a simulated week of trouble, the client is connected`() {
        var simulation = Simulation(seed: 1)
        simulation.remainingTroubles = 4_000
        simulation.longestQuiet = 1_200_000
        simulation.runToTheEnd()
        #expect(simulation.oracle.problem == nil)
        #expect(simulation.now > .seconds(7 * 24 * 60 * 60))
        simulation.connect()
        simulation.run(until: simulation.now + .seconds(60))
        #expect(simulation.client.state == .connected)
    }

    @Test func `Two simulations with the same seed end in the same state`() {
        var first = Simulation(seed: 7)
        var second = Simulation(seed: 7)
        first.runToTheEnd()
        second.runToTheEnd()
        #expect(first.client == second.client)
        #expect(first.now == second.now)
    }
}

extension Simulation {
    mutating func runToTheEnd() {
        schedule(.trouble, at: .origin)
        connect()
        for channel in Self.channels where chance(60) { subscribe(to: channel) }
        while remainingTroubles > 0, oracle.problem == nil { run(until: now + .seconds(30)) }
        calmDown()
        guard oracle.problem == nil else { return }
        check()
    }

    /// Stops all trouble and repeats the user's requests, because some of them had failed for good.
    private mutating func calmDown() {
        isCalm = true
        changeServer { server, _ in server.nodesHearEachOther = true }
        run(until: now + .seconds(60))
        if wantsConnection { connect() } else { disconnect() }
        for channel in wantedChannels.sorted() { subscribe(to: channel) }
        run(until: now + .seconds(300))
    }

    private mutating func check() {
        let open = server.openConnections.filter { $0.id.number < 1_000_000 }
        guard wantsConnection else {
            if client.state != .disconnected { oracle.fail("nobody wants a connection, but it is \(client.state)") }
            if !open.isEmpty { oracle.fail("the server has connections that nobody wants") }
            return
        }
        guard client.state == .connected else { return oracle.fail("not connected, but \(client.state)") }
        if open.count != 1 { oracle.fail("the server has \(open.count) connections") }
        let channels = Set((open.first?.channels ?? []).filter { !$0.hasPrefix("#") }.map { Name($0) })
        if channels != wantedChannels { oracle.fail("subscribed at the server: \(channels), wanted: \(wantedChannels)") }
        let subscribed = client.subscriptions.all.filter { $0.isSubscribed && !$0.name.text.hasPrefix("#") }
        if Set(subscribed.map(\.channel)) != wantedChannels { oracle.fail("the client thinks otherwise: \(subscribed)") }
        let here = Set(client.subscriptions["presence-r"]?.presentMembers.members.map(\.userID.text) ?? [])
        if wantedChannels.contains("presence-r"), here != Set(server.members(of: "presence-r")) {
            oracle.fail("members: \(here), at the server: \(server.members(of: "presence-r"))")
        }
        checkDelivery()
    }

    /// Checks that an event published now arrives once on each wanted channel and on no other.
    private mutating func checkDelivery() {
        let before = oracle.delivered
        for channel in Self.channels { publish(on: channel) }
        run(until: now + .seconds(1))
        for channel in Self.channels {
            let came = (oracle.delivered[channel] ?? 0) - (before[channel] ?? 0)
            let expected = wantedChannels.contains(channel) ? 1 : 0
            if came > expected, oracle.replays?.mayLose == true { continue }
            if came != expected { oracle.fail("of one event on \(channel) came \(came)") }
        }
    }
}

extension ServerProfile.SockudoV2 {
    /// Every other seed has no history, every other pair of seeds has the server's faults, and every other four have two nodes.
    fileprivate init(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        self.init()
        historyLength = seed % 2 == 0 ? 2_000 : nil
        nodes = seed % 8 >= 4 ? 2 : 1
        guard seed % 4 >= 2 else { return }
        answerDelay = .milliseconds(Int.random(in: 0...2_000, using: &random))
        joinDelay = .milliseconds(Int.random(in: 0...100, using: &random))
        successDelay = .milliseconds(max(Int.random(in: -100...100, using: &random), 0))
        refusedReplays = Int.random(in: 0...30, using: &random)
        sendsLiveEventsTwice = Bool.random(using: &random)
        namesOtherStreams = historyLength != nil && Int.random(in: 0..<4, using: &random) == 0
        // A client misses a serial for 300 ms, and then stops missing what the history doesn't have.
        if nodes > 1, historyLength != nil { storeDelay = .milliseconds(Int.random(in: 0...200, using: &random)) }
        swappedEvents = historyLength != nil ? Int.random(in: 0...10, using: &random) : 0
    }
}
