import Foundation
import Logging

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Makes calls to the HTTP API, and retries them if that does no harm.
struct HTTPAPIClient: Sendable {
    let signer: RequestSigner
    let retryPolicy: RetryPolicy
    let environment: PusherEnvironment
    let logger: Logger

    /// Returns the response to a successful call.
    ///
    /// - Throws: A ``PusherError``; or `CancellationError` if the task was cancelled, even after the request was sent.
    func response(to call: HTTPAPICall) async throws -> HTTPAPIResponse {
        let delays = ExponentialDelay(initial: retryPolicy.initialDelay, maximum: retryPolicy.maximumDelay)
        var random = SplitMix64(seed: environment.randomSeed())
        var failures = 0
        while true {
            let timeOfItsOwn: Duration, reason: PusherError
            do {
                return try await attempt(call, resends: failures)
            } catch let failure as FailedAttempt {
                failures += 1
                (timeOfItsOwn, reason) = (failure.error.retryAfter ?? .zero, failure.error)
                guard failures < retryPolicy.maximumAttempts, canRepeat(call, after: failure),
                    timeOfItsOwn <= retryPolicy.maximumDelay.asWait
                else { throw failure.error }
            }
            let delay = max(delays.delay(afterFailures: failures - 1, using: &random), timeOfItsOwn)
            logger.notice(
                "request is retried",
                metadata: ["path": "\(call.path.inLogLine())", "after": "\(delay)", "error": "\(reason.description)"])
            try await environment.scheduler.sleep(for: delay, label: "retry of \(call.method.rawValue) \(call.path)")
        }
    }

    private func attempt(_ call: HTTPAPICall, resends: Int) async throws -> HTTPAPIResponse {
        try Task.checkCancellation()
        let request = try signer.request(for: call, at: environment.wallClock())
        let reply: (body: Data, response: HTTPURLResponse)
        let isOfSystem = environment.httpSession is URLSession
        do {
            reply = try await environment.httpSession.traced(in: environment, resends: resends)
                .response(to: request, endedBy: isOfSystem ? environment.scheduler : nil)
        } catch {
            // A cancellation comes before any error of the session: the caller asked to stop.
            try Task.checkCancellation()
            throw FailedAttempt(error, of: call)
        }
        if isOfSystem, let failure = FailedAttempt(reply.response, followedFrom: request, by: call) {
            throw failure
        }
        if let response = HTTPAPIResponse(ofNobody: reply.body, status: reply.response.statusCode, to: call) { return response }
        guard (200..<300).contains(reply.response.statusCode) else {
            throw FailedAttempt(reply.response, body: reply.body, of: call)
        }
        let response = HTTPAPIResponse(reply.body, to: call)
        if let refusal = response.refusal { throw FailedAttempt(refusal, in: reply.response, of: call) }
        return response
    }

    private func canRepeat(_ call: HTTPAPICall, after failure: FailedAttempt) -> Bool {
        switch failure.remedy {
        case .none: false
        case .repetition: true
        case .repetitionIfHarmless:
            switch retryPolicy.publishing {
            case .atMostOnce: !call.isRisky
            case .atLeastOnce: true
            case .idempotent: call.repetition != .again
            }
        }
    }
}

extension Scheduler {
    /// Waits; throws `CancellationError` if the task is cancelled.
    func sleep(for duration: Duration, label: String) async throws {
        let end = OneShot<Void>()
        let action = schedule(at: now + duration, label: label) { end.give(.success(())) }
        try await end.value { action.cancel() }
    }
}
