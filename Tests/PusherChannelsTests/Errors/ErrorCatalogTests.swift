import Foundation
import PusherChannels
import TestSupport
import Testing

/// A failure and the error that reports it.
struct ErrorScenario: Sendable, CustomTestStringConvertible {
    /// The first cell of its row on the page.
    let name: String
    let run: @Sendable () async throws -> PusherError

    var testDescription: String { name }

    static let all = connection + authorization + subscriptions + clientEvents + users + httpAPI + backend

    init(_ name: String, _ run: @escaping @Sendable () async throws -> PusherError) {
        self.name = name
        self.run = run
    }

    /// Returns the error that a call throws.
    static func thrown<Result>(by call: () async throws -> Result) async throws -> PusherError {
        do {
            _ = try await call()
        } catch let error as PusherError {
            return error
        }
        throw NoError()
    }

    /// The error if nothing went wrong.
    struct NoError: Error {}
}

extension ClientRig {
    /// Returns the first error that the delegate receives.
    func error() async throws -> PusherError {
        let told = try await recorder.next { $0.failure != nil }
        guard let error = told.failure else { throw ErrorScenario.NoError() }
        return error
    }
}

extension TriggerResult {
    /// Returns the reason why an event isn't sent.
    func refusal() throws -> PusherError {
        guard case .refused(let error) = self else { throw ErrorScenario.NoError() }
        return error
    }
}

/// The page "Errors" lists all errors. The tests cause each row's error and compare it with the row.
@Suite(.timeLimit(.lost)) struct ErrorCatalogTests {
    /// The cells of an error's row that are compared. Other cells contain its name and the advice on what to do.
    private struct Row: Equatable {
        let kind: String
        let message: String
        let again: String
    }

    private static let rows: [String: Row] = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
        let path = "Sources/PusherChannels/PusherChannels.docc/Errors.md"
        let page = (try? String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)) ?? ""
        var rows: [String: Row] = [:]
        for line in page.split(separator: "\n") where line.hasPrefix("| ") {
            let cells = line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
            guard cells.count == 5, cells[1].hasPrefix("`"), !cells[4].isEmpty else { continue }
            rows[cells[0]] = Row(kind: String(cells[1].dropFirst().dropLast()), message: cells[2], again: cells[3])
        }
        return rows
    }()

    @Test(arguments: ErrorScenario.all)
    func whatIsHeard(scenario: ErrorScenario) async throws {
        let error = try await scenario.run()
        let kind = "\(error.kind)".replacing(#/[A-Za-z]+\.(?=[A-Za-z])/#, with: "")
        let row = Row(kind: kind, message: "\(error)", again: error.isRetryable ? "yes" : "no")
        #expect(row == Self.rows[scenario.name], "| \(scenario.name) | `\(row.kind)` | \(row.message) | \(row.again) | … |")
    }

    @Test func thePageHasNoOtherRows() {
        #expect(Set(Self.rows.keys) == Set(ErrorScenario.all.map { $0.name }))
        #expect(Set(ErrorScenario.all.map { $0.name }).count == ErrorScenario.all.count)
    }
}
