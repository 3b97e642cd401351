import Foundation
import TestSupport
import XCTest

/// The HTTP layer that the article tests, reduced to what its test needs.
private struct AGSessionImpl: Sendable {
    let url: String
    let session: URLSession

    init(url: String, sessionConfig: URLSessionConfiguration) {
        self.url = url
        session = URLSession(configuration: sessionConfig)
    }

    func GET(
        _ parameters: [String: String]?, success: @escaping @Sendable ([String: String]?) -> Void,
        failure: @escaping @Sendable (any Error) -> Void
    ) {
        session.dataTask(with: URL(string: url)!) { data, _, error in
            if let error { return failure(error) }
            success(try? JSONDecoder().decode([String: String].self, from: data ?? Data()))
        }.resume()
    }
}

/// The test of "Http Stubs: let's go Swift Swizzling!". Changed: stubs belong to a session, which provides a configuration
/// instead of replacing everybody's; the types are today's.
class HTTPStubsArticleXCTests: XCTestCase {
    func testGETWithoutParametersStub() throws {
        @Sendable func http_200(request: RecordedRequest, params: [String: String]?) -> StubResponse {
            var data: Data
            if let params {
                data = try! JSONSerialization.data(withJSONObject: params, options: [])
            } else {
                data = Data()
            }
            return StubResponse(data: data, statusCode: 200, headers: ["Content-Type": "text/json"])
        }

        @Sendable func http_200_response(request: RecordedRequest) -> StubResponse {
            return http_200(request: request, params: ["key1": "value1"])
        }
        // set up http stub
        let stubs = MockSession()
        stubs.stubRequests(
            passingTest: { (request: RecordedRequest) -> Bool in
                return true
            }, withStubResponse: (http_200_response))

        // async test expectation
        let getExpectation = expectation(description: "Retrieve data with GET without parameters")

        let url = "http://whatever.com"
        let http = AGSessionImpl(url: url, sessionConfig: stubs.urlSessionConfiguration())
        http.GET(
            nil,
            success: { response in
                if let response {
                    XCTAssertTrue(response["key1"] == "value1")
                    getExpectation.fulfill()
                }
            },
            failure: { error in
                XCTAssertTrue(false, "should have retrieved jokes")
                getExpectation.fulfill()
            })

        wait(for: [getExpectation], timeout: 30)
        stubs.removeAllStubs()
    }
}

extension MockSession {
    /// The article's spelling of a stub.
    fileprivate func stubRequests(
        passingTest test: @escaping @Sendable (RecordedRequest) -> Bool,
        withStubResponse reply: @escaping @Sendable (RecordedRequest) -> StubResponse
    ) {
        stub(RequestMatcher(where: test), with: reply)
    }
}
