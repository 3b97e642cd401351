import TestSupportTesting
import Testing

@testable import TestSupport

/// Random sequences of actions on an app, each in a fresh harness.
@Suite struct ExplorationTests {
    private actor Till {
        private(set) var balance = 0

        func take(_ amount: Int) { balance += amount }
        func close() { if balance > 2 { balance = 0 } }
    }

    private struct Wrong: Error {}

    private let actions: [HarnessAction<Till>] = [
        .init("sell") { _, till in await till.take(1) },
        .init("close") { _, till in await till.close() },
        .init("look") { _, _ in },
        .advance(by: .seconds(1)),
    ]

    private func explore(_ seeds: [UInt64], replaying: [String]? = nil) async throws {
        try await exploreTestHarness(seeds: seeds, actions: actions, replaying: replaying) { _ in
            Till()
        } check: { harness, till in
            let sold = harness.timeline.entries.filter { $0.text == "sell" }.count
            if await till.balance != sold { throw Wrong() }
        }
    }

    @Test func `Exploring names the shortest failing sequence of actions, which can be replayed`() async throws {
        let found = try #require(await #expect(throws: FailedExploration.self) { try await explore(Array(1...20)) })
        #expect(found.actions == ["sell", "sell", "sell", "close"])
        #expect(found.length == 20 && found.error is Wrong)
        let line = #"exploreTestHarness(seeds: [\#(found.seed)], actions: …, replaying: ["sell", "sell", "sell", "close"])"#
        #expect(found.description.contains(line))
        let replayed = await #expect(throws: FailedExploration.self) {
            try await explore([found.seed], replaying: found.actions)
        }
        #expect(replayed?.actions == found.actions && replayed?.length == 4)
    }

    @Test func `A harness's finding fails a sequence, and an unknown action's name is an error`() async throws {
        let found = await #expect(throws: FailedExploration.self) {
            try await exploreTestHarness(
                seeds: [3], actions: [HarnessAction<Void>("stub") { harness, _ in harness.session.stub("GET /a", .ok) }]
            ) { _ in }
        }
        #expect(found?.actions == ["stub"])
        #expect(found?.description.contains("unused stub: GET /a") == true)
        let unknown = await #expect(throws: (any Error).self) { try await explore([1], replaying: ["sel"]) }
        #expect("\(unknown.map { "\($0)" } ?? "")" == "no action is named sel; there are sell; close; look; 1.0 seconds pass")
    }

    @Test func `Exploring without a seed or an action is an error`() async throws {
        await #expect(throws: NothingToExplore.self) { try await explore([]) }
        await #expect(throws: NothingToExplore.self) {
            try await exploreTestHarness(seeds: [1], actions: [HarnessAction<Void>]()) { _ in }
        }
    }

    @Test func `A negative advance among the actions is found at the place of the action`() async throws {
        let found = await #expect(throws: FailedExploration.self) {
            try await exploreTestHarness(seeds: [1], actions: [HarnessAction<Void>.advance(by: .seconds(-1))]) { _ in }
        }
        let text = try #require(found).description
        #expect(text.contains("advance(by: -1.0 seconds) at ExplorationTests.swift:"))
    }

    @Test func `Replaying a sequence of harmless actions passes`() async throws {
        try await explore([1, 2], replaying: ["sell", "close", "1.0 seconds pass"])
    }
}

extension Trait where Self == HarnessTrait {
    /// A helper as an app may have it: all of its traits are made at one place.
    fileprivate static func app(seed: UInt64) -> Self { .harness(seed: seed) }
}

private let sharedTrait: HarnessTrait = .harness(seed: 9)

@Suite(.harness(profile: .reverb, seed: 7)) struct HarnessTraitTests {
    @Test func `A suite's harness trait gives each test a harness`() throws {
        let harness = try #require(TestHarness.current)
        #expect(harness.seed == 7)
        let pusher = harness.makePusher()
        pusher.connect()
        #expect(pusher.connection.connectionState == .connected)
    }

    @Test(.harness(seed: 8)) func `A test's own harness trait takes precedence over its suite's`() throws {
        #expect(try #require(TestHarness.current).seed == 8)
    }

    @Test(arguments: [1, 2]) func `Each case of a parameterized test has its own harness`(_: Int) throws {
        #expect(try #require(TestHarness.current).timeline.entries.isEmpty)
        try #require(TestHarness.current).timeline.note("note", "this case")
    }

    @Suite(.app(seed: 5)) struct MadeByHelper {
        @Test func `A helper's trait gives each test of a suite a harness`() throws {
            #expect(try #require(TestHarness.current).seed == 5)
        }

        @Test(.app(seed: 6)) func `A test's own trait takes precedence even if one helper made both`() throws {
            #expect(try #require(TestHarness.current).seed == 6)
        }
    }

    @Suite(sharedTrait) struct Shared {
        @Test(sharedTrait) func `One trait of a suite and of its test makes one harness`() throws {
            #expect(try #require(TestHarness.current).seed == 9)
        }
    }
}
