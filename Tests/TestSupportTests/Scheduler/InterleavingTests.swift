import Testing

@testable import TestSupport

#if !canImport(Darwin)  // On Darwin, the executor needs a newer system than the package does.

struct InterleavingTests {
    /// A door that opens twice if one caller checks it before the other has opened it.
    private actor Door {
        private(set) var opened = 0

        func open() async {
            guard opened == 0 else { return }
            await Task.yield()
            opened += 1
        }
    }

    private struct OpenedTwice: Error {}

    @Sendable private func openWithTwo(_ executor: TestExecutor) async throws {
        let door = Door()
        async let first: Void = door.open()
        async let second: Void = {
            for _ in 0..<5 { await Task.yield() }
            await door.open()
        }()
        _ = await (first, second)
        if await door.opened != 1 { throw OpenedTwice() }
    }

    @Test func `Exploring interleavings finds a hidden race, and its seed reproduces the race`() async throws {
        try await TestExecutor().run(openWithTwo)
        let error = await #expect(throws: FailedInterleaving.self) {
            try await exploreInterleavings(seeds: 0..<200, openWithTwo)
        }
        let found = try #require(error)
        #expect(found.error is OpenedTwice)
        #expect(found.description.contains("TestExecutor(seed: \(found.seed))"))
        for _ in 0..<5 {
            await #expect(throws: OpenedTwice.self) { try await TestExecutor(seed: found.seed).run(openWithTwo) }
        }
    }

    @Test func `A harness may wait for other threads under any interleaving`() async throws {
        try await exploreInterleavings(seeds: 0..<3) { _ in
            try await withTestHarness { harness in
                let looks = Locked(0)
                try await harness.eventually("it was looked at again", within: .zero) {
                    looks.withLock { looks in
                        looks += 1
                        return looks == 3
                    }
                }
            }
        }
    }

    @Test func `Code without a race passes under every seed, and each seed is tried`() async throws {
        let seeds = Locked<[UInt64?]>([])
        try await exploreInterleavings(seeds: 0..<50) { executor in
            seeds.withLock { $0.append(executor.seed) }
            let door = Door()
            await door.open()
            await door.open()
            if await door.opened != 1 { throw OpenedTwice() }
        }
        #expect(seeds.withLock { $0 } == (0..<50).map { UInt64?($0) })
    }

    @Test func `Exploring interleavings without a seed is an error, and a canceled test is no seed's failure`() async throws {
        await #expect(throws: NothingToExplore.self) { try await exploreInterleavings(seeds: [UInt64](), openWithTwo) }
        let test = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await exploreInterleavings(seeds: 0..<3) { executor in try await executor.clock.sleep(for: .seconds(1)) }
        }
        await #expect(throws: CancellationError.self) { try await test.value }
        let own = await #expect(throws: FailedInterleaving.self) {
            try await exploreInterleavings(seeds: 7..<9) { _ in throw CancellationError() }
        }
        #expect(own?.seed == 7)
    }

    @Test func `Interleavings may use an automatic clock, and a deadlock's seed is named`() async throws {
        try await exploreInterleavings(seeds: 0..<3, time: .automatic) { executor in
            try await executor.clock.sleep(for: .seconds(1))
        }
        let error = await #expect(throws: FailedInterleaving.self) {
            try await exploreInterleavings(seeds: 7..<9) { executor in try await executor.clock.sleep(for: .seconds(1)) }
        }
        #expect(error?.seed == 7)
        #expect(error?.error is Deadlock)
    }
}

#endif
