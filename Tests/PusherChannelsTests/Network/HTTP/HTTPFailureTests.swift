import Foundation
import TestSupport
import Testing

@testable import PusherChannels

@Suite struct HTTPFailureTests {
    @Test(arguments: [
        (TransportError.Kind.hostNotFound, URLError.Code.cannotFindHost), (.connectionRefused, .cannotConnectToHost),
        (.unreachable, .cannotConnectToHost), (.noAnswer, .timedOut), (.proxyRefused(status: 407), .cannotConnectToHost),
        (.protocolViolation, .badServerResponse), (.connectionLost, .networkConnectionLost), (.cancelled, .cancelled),
        (.tlsFailed(.certificateExpired), .serverCertificateHasBadDate),
        (.tlsFailed(.certificateNotYetValid), .serverCertificateNotYetValid),
        (.tlsFailed(.selfSigned), .serverCertificateHasUnknownRoot),
        (.tlsFailed(.untrustedAuthority), .serverCertificateHasUnknownRoot),
        (.tlsFailed(.wrongHost), .serverCertificateUntrusted), (.tlsFailed(.publicKeyNotPinned), .serverCertificateUntrusted),
        (.tlsFailed(.clientCertificateRequired), .clientCertificateRequired),
        (.tlsFailed(.clientCertificateRefused), .clientCertificateRejected), (.tlsFailed(.notTLS), .secureConnectionFailed),
        (.tlsFailed(.invalidConfiguration), .secureConnectionFailed), (.unsupported, .unsupportedURL),
    ])
    func `Each kind of transport failure is a URLError of its code and text`(kind: TransportError.Kind, code: URLError.Code) {
        let failure = TransportError(kind, "What happened to example.com:443")
        let error: any Error = HTTPFailure(failure).error
        #expect((error as? URLError)?.code == code)
        #expect(error.localizedDescription == failure.message)
        #expect((error as? URLError).flatMap { TransportError($0) } == failure)
        // A program may also use the error as an `NSError`.
        #expect((error as NSError).localizedDescription == failure.message)
        #expect((error as NSError).domain == NSURLErrorDomain)
    }

    @Test func `A response that is too long has an error code of its own, and a URLError of another package no failure`() {
        #expect(TransportError(URLError(.timedOut)) == nil)
        let failure = HTTPFailure(ResponseReader.Problem.tooLong(limit: 7), of: "example.com:443")
        #expect(failure.code == .dataLengthExceedsMaximum)
        #expect(failure.failure.message == "example.com:443 doesn't answer as it should: its answer has more than 7 bytes")
        #expect(HTTPFailure(ResponseReader.Problem.chunks, of: "x").code == .badServerResponse)
    }

    @Test(arguments: [
        (URLError.Code.cannotConnectToHost, true), (.timedOut, true), (.serverCertificateHasBadDate, true), (.cancelled, true),
        (.badURL, false), (.unsupportedURL, false), (.requestBodyStreamExhausted, false), (.dataLengthExceedsMaximum, false),
    ])
    func `A failed authorization is retryable unless its request or reply is unusable`(code: URLError.Code, isRetryable: Bool) {
        let error = HTTPFailure(code, TransportError(.unsupported, "what happened")).error
        let result = AuthResponse.read(nil, nil, error) { _ in "" }
        guard case .failure(let failure) = result else { return #expect(Bool(false)) }
        #expect(failure.isRetryable == isRetryable)
        #expect(failure.message == "the authorization endpoint could not be asked: what happened")
    }
}

/// The message text for errors that aren't this package's.
@Suite struct ErrorTextTests {
    private static let secret = "https://example.com/?token=s3cret"

    private func error() -> NSError {
        let info: [String: Any] = [NSLocalizedDescriptionKey: "it hung up", NSURLErrorFailingURLErrorKey: Self.secret]
        return NSError(domain: NSURLErrorDomain, code: NSURLErrorNetworkConnectionLost, userInfo: info)
    }

    /// A continuation that throws an error wraps it in another one.
    @Test func `The text of an NSError is its localized description without the failing URL, also behind a continuation`() async {
        #expect(text(of: error()) == "it hung up")
        do {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                continuation.resume(throwing: error())
            }
            Issue.record("nothing was thrown")
        } catch {
            #expect(text(of: error) == "it hung up")
        }
    }
}

/// The age of a batch: the longest that its messages may have waited.
@Suite struct MessageBatchTests {
    /// The code that handles a batch may be suspended before it reads the age, so the age grows until it is read.
    @Test func `The age of a message batch goes on growing until it is read`() {
        let scheduler = TestScheduler()
        let batch = MessageBatch.controlFrames(.since(.origin, now: { scheduler.now }))
        scheduler.advance(by: .seconds(5))
        let first = batch.age
        scheduler.advance(by: .seconds(2))
        let second = batch.age
        #expect([first, second] == [.seconds(5), .seconds(7)])
    }

    @Test(arguments: [(99, 0), (100, 0), (101, 101)])
    func `The age of a message batch is zero up to 100 ms`(milliseconds: Int, expected: Int) {
        let now = Instant(.milliseconds(milliseconds))
        let age = MessageBatch.controlFrames(.since(.origin, now: { now })).age
        #expect(age == .milliseconds(expected))
    }

    @Test func `The age of a message batch that its socket gives is taken as it is`() {
        let age = MessageBatch.controlFrames(age: .milliseconds(3)).age
        #expect(age == .milliseconds(3))
    }
}
