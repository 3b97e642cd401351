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
