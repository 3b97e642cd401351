import Foundation
import Testing

@testable import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.timeLimit(.lost)) struct AuthFailureTests {
    /// Returns what becomes of an endpoint's response, of which only an `auth` is wanted.
    private func failure(_ body: Data, status: Int, _ fields: [String: String]? = nil) throws -> AuthorizationFailure? {
        let url = try #require(URL(string: "http://auth.example/"))
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields)
        let result = AuthResponse.read(body, response, nil) { json throws(AuthResponse.Unusable) in json["auth"] }
        return #expect(throws: AuthorizationFailure.self) { try result.get() }
    }

    // Proves P6.10, P14.2, P14.6.
    @Test(arguments: [
        (302, false), (400, false), (401, false), (403, false), (404, false), (407, false), (408, true), (425, true),
        (429, true), (499, false), (500, true), (599, true), (600, false),
    ])
    func `A reply's status, or a handler's error code, decides what is retried`(status: Int, isRetryable: Bool) async throws {
        let thrown = await failure(of: PusherError(.authorization, code: status, message: "no"))
        for failure in [try failure(Data(), status: status), thrown] {
            #expect(failure?.status == status)
            #expect(failure?.isRetryable == isRetryable)
        }
    }

    /// The response may be a framework's error page.
    // Proves P14.2, P14.14.
    @Test func `An authorization whose reply is too long is retried if its status is 503, not if it is 200`() throws {
        let page = Data(repeating: UInt8(ascii: "x"), count: AuthResponse.maximumSize + 1)
        for (status, isRetryable) in [(503, true), (200, false)] {
            let failure = try failure(page, status: status, ["Retry-After": "5"])
            #expect(failure?.isRetryable == isRetryable)
            #expect(failure?.retryAfter == .seconds(5))
            #expect(failure?.message.contains("1048577 bytes") == true)
        }
    }

    private static let refusals: [(body: String, status: Int, isRetryable: Bool)] = [
        (#"{"error":"why\u001b","code":401}"#, 401, false), (#"{"error":"why\u001b","code":403}"#, 403, false),
        (#"{"error":"why\u001b","code":503}"#, 503, true), (#"{"error":"why\u001b","code":429,"auth":null}"#, 429, true),
        (#"{"error":"why\u001b","code":7}"#, 200, true), (#"{"error":"why\u001b","shared_secret":"s3cret"}"#, 200, true),
    ]

    // Proves P14.2, P14.3.
    @Test(arguments: refusals) func `An error in the body of a 200 reply is a failure with the error's code and text`(
        body: String, status: Int, isRetryable: Bool
    ) throws {
        let failure = try failure(Data(body.utf8), status: 200)
        let error = status == 200 ? "an error" : "error \(status)"
        #expect(failure?.message == #"the authorization endpoint answered with status 200 and \#(error): "why\u{1b}""#)
        #expect(failure?.status == status)
        #expect(failure?.isRetryable == isRetryable)
        #expect(failure?.body == nil)
    }

    // Proves P14.9.
    @Test func `An error in a reply's body is quoted without passwords and queries of addresses`() throws {
        let words = "\(String(repeating: "x", count: 170)) https://ann:s3cretpassword@h/x?token=t"
        let message = try failure(Data(#"{"error":"\#(words)"}"#.utf8), status: 200)?.message ?? ""
        #expect(message.contains("https:"))
        #expect(!message.contains("s3c") && !message.contains("token=t"))
    }

    // Proves P14.14.
    @Test(
        arguments: [
            (nil, nil), ("0", .zero), ("120", .seconds(120)), ("86400", .seconds(86_400)), ("86401", .seconds(86_400)),
            ("99999999999999999999", .seconds(86_400)), ("", nil), ("-1", nil), ("+1", nil), ("1.5", nil), ("1 s", nil),
            ("Fri, 31 Dec 1999 23:59:59 GMT", nil),
        ] as [(String?, Duration?)])
    func `An endpoint's Retry-After is used if it is whole seconds, up to one day`(field: String?, time: Duration?) throws {
        #expect(try failure(Data(), status: 503, field.map { ["Retry-After": $0] })?.retryAfter == time)
    }

    private func failure(of error: any Error) async -> AuthorizationFailure? {
        let result: Result<PusherAuth, AuthorizationFailure> = await withCheckedContinuation { continuation in
            _ = AuthCall.run(in: PusherEnvironment(), { continuation.resume(returning: $0) }) { throw error }
        }
        return #expect(throws: AuthorizationFailure.self) { try result.get() }
    }

    /// A handler that calls a backend may pass on the errors of its session.
    // Proves P6.10, P14.6.
    @Test(
        arguments: [
            (URLError(.networkConnectionLost), true), (URLError(.timedOut), true), (URLError(.cannotFindHost), true),
            (URLError(.notConnectedToInternet), true), (URLError(.secureConnectionFailed), true), (URLError(.badURL), false),
            (URLError(.unsupportedURL), false), (URLError(.dataLengthExceedsMaximum), false),
            (PusherError(.authorization, message: "no"), true), (PusherError(.invalidRequest, message: "no socket id"), false),
        ] as [(any Error, Bool)])
    func `A handler's error without a status is retried unless the request was wrong`(error: any Error, isRetryable: Bool) async {
        let failure = await failure(of: error)
        #expect(failure?.isRetryable == isRetryable)
        if error is PusherError { #expect(failure?.status == nil) }
    }
}
