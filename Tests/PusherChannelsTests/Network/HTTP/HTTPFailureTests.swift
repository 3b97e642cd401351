import Foundation
import Testing

@testable import PusherChannels

/// Errors are Foundation's with the text of ours.
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
    func theCodeThatFoundationHas(kind: TransportError.Kind, code: URLError.Code) {
        let failure = TransportError(kind, "What happened to example.com:443")
        let error: any Error = HTTPFailure(failure).error
        #expect((error as? URLError)?.code == code)
        #expect(error.localizedDescription == "What happened to example.com:443")
        #expect((error as? URLError).flatMap { TransportError($0) } == failure)
        // A program may also use the error as an `NSError`.
        #expect((error as NSError).localizedDescription == "What happened to example.com:443")
        #expect((error as NSError).domain == NSURLErrorDomain)
    }

    @Test func anErrorOfAnybodyElsesHasNoFailure() {
        #expect(TransportError(URLError(.timedOut)) == nil)
    }

    @Test func aResponseThatIsTooLongIsNotABadOne() {
        let failure = HTTPFailure(ResponseReader.Problem.tooLong(limit: 7), of: "example.com:443")
        #expect(failure.code == .dataLengthExceedsMaximum)
        #expect(failure.failure.message == "example.com:443 doesn't answer as it should: its answer has more than 7 bytes")
        #expect(HTTPFailure(ResponseReader.Problem.chunks, of: "x").code == .badServerResponse)
    }

    @Test(arguments: [
        (URLError.Code.cannotConnectToHost, true), (.timedOut, true), (.serverCertificateHasBadDate, true), (.cancelled, true),
        (.badURL, false), (.unsupportedURL, false), (.requestBodyStreamExhausted, false), (.dataLengthExceedsMaximum, false),
    ])
    func whichFailuresAnAuthorizationIsTriedAgainAfter(code: URLError.Code, isRetryable: Bool) {
        let error = HTTPFailure(code, TransportError(.unsupported, "what happened")).error
        let result = AuthResponse.read(nil, nil, error) { _ in "" }
        guard case .failure(let failure) = result else { return #expect(Bool(false)) }
        #expect(failure.isRetryable == isRetryable)
        #expect(failure.message == "the authorization endpoint could not be asked: what happened")
    }
}
