import Foundation
import Testing

@testable import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Which failures of an authorization are final.
@Suite(.timeLimit(.lost)) struct AuthFailureTests {
    // Proves P6.10, P14.2.
    @Test(arguments: [
        (302, false), (400, false), (401, false), (403, false), (404, false), (407, false), (408, true), (425, true), (429, true),
        (499, false), (500, true), (599, true), (600, false),
    ])
    func statusOfAnEndpoint(status: Int, isRetriable: Bool) throws {
        let url = try #require(URL(string: "http://auth.example/"))
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil)
        let result = AuthResponse.read(Data(), response, nil) { json throws(AuthResponse.Unusable) in json }
        let failure = #expect(throws: AuthorizationFailure.self) { try result.get() }
        #expect(failure?.status == status)
        #expect(failure?.isRetriable == isRetriable)
    }

    // Proves P6.10, P14.6.
    @Test(arguments: [(nil, true), (399, true), (400, false), (403, false), (404, false), (499, false), (500, true)])
    func codeOfWhatAHandlerThrows(code: Int?, isRetriable: Bool) async {
        let result: Result<PusherAuth, AuthorizationFailure> = await withCheckedContinuation { continuation in
            _ = AuthCall.run(in: PusherEnvironment(), { continuation.resume(returning: $0) }) {
                throw PusherError(.authorization, code: code, message: "no")
            }
        }
        let failure = #expect(throws: AuthorizationFailure.self) { try result.get() }
        #expect(failure?.status == code)
        #expect(failure?.isRetriable == isRetriable)
    }
}
