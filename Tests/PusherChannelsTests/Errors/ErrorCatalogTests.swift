import Foundation
import PusherChannels
import TestSupport
import Testing

struct ErrorScenario: Sendable, CustomTestStringConvertible {
    /// Its heading on the page.
    let name: String
    let run: @Sendable () async throws -> PusherError

    var testDescription: String { name }

    static let all = connection + authorization + subscriptions + clientEvents + users + httpAPI + backend

    init(_ name: String, _ run: @escaping @Sendable () async throws -> PusherError) {
        self.name = name
        self.run = run
    }

    static func thrown<Result>(by call: () async throws -> Result) async throws -> PusherError {
        try await #require(throws: PusherError.self) { _ = try await call() }
    }

    /// The first error that a client's delegate gets after this.
    static func reported(
        _ name: String, by makeRig: @escaping @Sendable () -> ClientRig = { ClientRig.connected() },
        _ act: @escaping @Sendable (ClientRig) -> Void
    ) -> ErrorScenario {
        ErrorScenario(name) {
            let rig = makeRig()
            act(rig)
            return try await rig.error()
        }
    }

    struct NoError: Error {}
}

extension ClientRig {
    /// Returns the first such error that the delegate receives.
    func error(where matches: @escaping @Sendable (PusherError) -> Bool = { _ in true }) async throws -> PusherError {
        try #require(try await recorder.next { $0.failure.map(matches) ?? false }.failure)
    }
}

extension TriggerResult {
    /// Returns the reason why an event isn't sent.
    func refusal() throws -> PusherError {
        guard case .refused(let error) = self else { throw ErrorScenario.NoError() }
        return error
    }
}

/// The page "Errors" lists all errors. The tests cause each of them and compare it with what the page says.
@Suite(.timeLimit(.lost)) struct ErrorCatalogTests {
    /// What the page says about an error, besides the advice on what to do.
    private struct Entry: Equatable {
        let kind: String
        let message: String
        let isRetryable: Bool
    }

    private static let entries: [String: Entry] = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
        let path = "Sources/PusherChannels/PusherChannels.docc/Errors.md"
        let page = (try? String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)) ?? ""
        let entry = #/### (?<name>.+)\n\n`(?<message>.+)`\n\n\*\*(?<again>Retryable|Not retryable)\*\*, `(?<kind>[^`]+)`\. ./#
        let found = page.matches(of: entry).map { match in
            let isRetryable = match.again == "Retryable"
            return (String(match.name), Entry(kind: "\(match.kind)", message: "\(match.message)", isRetryable: isRetryable))
        }
        return Dictionary(found) { first, _ in first }
    }()

    @Test(arguments: ErrorScenario.all)
    func `Every error has the kind, message, and retryability that the Errors page lists`(scenario: ErrorScenario) async throws {
        let error = try await scenario.run()
        let kind = "\(error.kind)".replacing(#/[A-Za-z]+\.(?=[A-Za-z])/#, with: "")
        let entry = Entry(kind: kind, message: "\(error)", isRetryable: error.isRetryable)
        #expect(entry == Self.entries[scenario.name])
    }

    @Test func `The Errors page lists exactly the errors that the tests cause`() {
        #expect(Set(Self.entries.keys) == Set(ErrorScenario.all.map { $0.name }))
        #expect(Set(ErrorScenario.all.map { $0.name }).count == ErrorScenario.all.count)
    }
}
