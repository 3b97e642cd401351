import Testing

@testable import TestSupport

extension Recorder {
    fileprivate func next(
        _ wanted: String, within patience: Duration, passingOver passesOver: Bool = false,
        where isWanted: @escaping @Sendable (Entry) -> Bool
    ) async throws -> Entry {
        try await next(RecorderWait(wanted, within: patience, at: "Tests.swift:1", passesOver: passesOver), where: isWanted)
    }
}

@Suite struct RecorderTests {
    /// If a recorder checked all entries again for each new one, the cost would grow with the square of their number.
    @Test func `A waiting condition is not asked about all entries again with each new one`() async throws {
        let recorder = Recorder<Int>()
        let asked = Locked(0)
        let (begun, continuation) = AsyncStream<Void>.makeStream()
        async let wanted = recorder.next("999", within: .seconds(30)) { number in
            asked.withLock { $0 += 1 }
            continuation.yield()
            return number == 999
        }
        recorder.append(0)
        for await _ in begun { break }
        for number in 1..<1_000 { recorder.append(number) }
        #expect(try await wanted == 999)
        // Two threads may ask about an entry at the same time. Asking about all earlier entries each time would take half a
        // million calls.
        #expect(asked.withLock { $0 } < 3_000)
    }

    @Test func `Entries that are passed over are not returned to a later wait, and those after them are`() async throws {
        let recorder = Recorder<Int>()
        for number in 0..<6 { recorder.append(number) }
        _ = try await recorder.next("1", within: .zero) { $0 == 1 }
        _ = try await recorder.next("3", within: .zero, passingOver: true) { $0 == 3 }
        #expect(try await recorder.next("any", within: .zero) { _ in true } == 4)
        #expect(try await recorder.next("any", within: .zero) { _ in true } == 5)
        recorder.append(1)
        recorder.passOver()
        await #expect(throws: NothingCame.self) { try await recorder.next("any", within: .zero) { _ in true } }
        recorder.append(1)
        #expect(try await recorder.next("1", within: .zero) { $0 == 1 } == 1)
        #expect(recorder.all == [0, 1, 2, 3, 4, 5, 1, 1])
    }

    /// Returns the message of a wait that failed, without the parts that are always the same.
    private func complaint(of recorder: Recorder<Int>) async -> String {
        let error = await #expect(throws: NothingCame.self) { try await recorder.next("any", within: .zero) { $0 < 0 } }
        return (error?.description ?? "").replacing("no any within 0.0 seconds at least; ", with: "").replacing(
            "; waited for at Tests.swift:1", with: "")
    }

    @Test func `A wait in vain tells new entries from those returned or passed over before`() async throws {
        let recorder = Recorder<Int>()
        #expect(await complaint(of: recorder) == "nothing came")
        for number in 0..<5 { recorder.append(number) }
        #expect(await complaint(of: recorder) == "came: 0, 1, 2, 3, 4")
        _ = try await recorder.next("0", within: .zero) { $0 == 0 }
        _ = try await recorder.next("3", within: .zero, passingOver: true) { $0 == 3 }
        #expect(await complaint(of: recorder) == "came: 4; got or passed over before: 0, 1, 2, 3")
        _ = try await recorder.next("4", within: .zero) { $0 == 4 }
        #expect(await complaint(of: recorder) == "nothing else came; got or passed over before: 0, 1, 2, 3, 4")
        for number in 0..<1_000 { recorder.append(number) }
        let twenty = (980..<1_000).map(String.init).joined(separator: ", ")
        #expect(await complaint(of: recorder).hasPrefix("came: … 980 earlier, \(twenty); got"))
    }

    @Test func `A recorder keeps the latest entries, and waits can't return older ones`() async throws {
        let recorder = Recorder<Int>(limit: 8)
        for number in 0..<1_000 { recorder.append(number) }
        #expect(recorder.all == Array(992..<1_000))
        await #expect(throws: NothingCame.self) { try await recorder.next("500", within: .zero) { $0 == 500 } }
        #expect(try await recorder.next("995", within: .zero) { $0 == 995 } == 995)
        for number in 1_000..<1_100 { recorder.append(number) }
        async let next = recorder.next("1100", within: .seconds(30)) { $0 == 1_100 }
        recorder.append(1_100)
        #expect(try await next == 1_100)
    }

    @Test func `Only the first thousand findings are kept, and the rest are counted`() {
        var first = FirstElements<Int>()
        for number in 0..<1_017 { first.append(number) }
        #expect(first.kept == Array(0..<1_000))
        let findings = first.findings { Finding(.error, "\($0)") }
        #expect(findings.count == 1_001)
        #expect(findings.last == Finding(.error, "17 more, of which nothing is kept"))
    }
}
