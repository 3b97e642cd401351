import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An HTTP session that answers from stubs and reaches no network.
///
/// An answer is looked for by method and URL first, then at a stubbed authorisation endpoint, then in ``mockResponse``, then at
/// the server if there is one. A request that finds none fails with ``UnmatchedRequest`` and is listed in ``unmatchedRequests``. Every session is on its
/// own, so tests may run side by side. All members may be called from any thread.
public final class MockSession: HTTPSession {
    /// What a request completes with.
    public typealias Response = (data: Data?, urlResponse: URLResponse?, error: NSError?)

    private struct State {
        var mockResponse: Response?
        var responses: [String: Response] = [:]
        var authorization: Authorization?
        var delivery: MockDelivery
        var requests: [RecordedRequest] = []
        var unmatched: [RecordedRequest] = []
    }

    private let state: Locked<State>
    private let server: InMemoryServer?

    /// Creates a session without stubs.
    ///
    /// - Parameter server: Who answers what no stub does, whatever host the request is for.
    public init(server: InMemoryServer? = nil, delivery: MockDelivery = .global) {
        self.server = server
        state = Locked(State(delivery: delivery))
    }

    /// The answer to every request that nothing else answers; `nil` means that there is none.
    public var mockResponse: Response? {
        get { state.withLock { $0.mockResponse } }
        set { state.withLock { $0.mockResponse = newValue } }
    }

    /// When and where answers to requests made from now on come.
    public var delivery: MockDelivery {
        get { state.withLock { $0.delivery } }
        set { state.withLock { $0.delivery = newValue } }
    }

    /// The requests that were started, in order.
    public var requests: [RecordedRequest] { state.withLock { $0.requests } }

    /// The requests that found no answer.
    public var unmatchedRequests: [RecordedRequest] { state.withLock { $0.unmatched } }

    /// Answers requests with this method and URL; a later call for the same ones replaces the answer.
    public func addMockResponse(for url: URL, httpMethod: String, data: Data?, urlResponse: URLResponse?, error: NSError?) {
        state.withLock {
            $0.responses["\(httpMethod.uppercased())||\(url.absoluteString)"] = (data, urlResponse, error)
        }
    }

    /// Answers the POST of an authorisation request, wherever it goes, with the signature that an app's backend would make of
    /// its form: right for the channel and the socket, or for the user where no channel is named; with 400 and 403 where a
    /// backend would refuse.
    ///
    /// - Parameters:
    ///   - secret: The app's secret.
    ///   - key: The app's key.
    ///   - encryptionMasterKey: What the keys of encrypted channels are made of, 32 bytes in base64.
    ///   - userID: The user where the form names none; by default the socket id.
    public func stubAuth(secret: String, key: String, encryptionMasterKey: String? = nil, userID: String? = nil) {
        let app = ServerApp(id: key, key: key, secret: secret, encryptionMasterKey: encryptionMasterKey)
        state.withLock { $0.authorization = Authorization(app: app, defaultUserID: userID) }
    }

    /// Prepares a request; it is recorded and answered when the task is resumed.
    public func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> MockTask {
        let recorded = RecordedRequest(request)
        return MockTask(label: "response to \(recorded)", delivery: delivery, completion: completionHandler) { [self] in
            answer(recorded, url: request.url)
        }
    }

    private func answer(_ request: RecordedRequest, url: URL?) -> MockTask.Outcome {
        let stubbed: MockTask.Outcome? = state.withLock { state in
            state.requests.append(request)
            if let response = state.responses["\(request.method)||\(request.url)"] {
                return (response.data, response.urlResponse, response.error)
            }
            if let authorization = state.authorization, let outcome = authorize(request, url: url, authorization) {
                return outcome
            }
            return state.mockResponse.map { ($0.data, $0.urlResponse, $0.error) }
        }
        if let stubbed { return stubbed }
        if let server, let url { return outcome(server.respond(to: request), url: url) }
        return state.withLock { state in
            state.unmatched.append(request)
            return (nil, nil, UnmatchedRequest(request: request, offered: offers(state)))
        }
    }

    private func offers(_ state: State) -> [String] {
        let stubs = state.responses.keys.sorted().map { $0.replacing("||", with: " ", maxReplacements: 1) }
        return state.authorization == nil ? stubs : stubs + ["POST of an authorisation form"]
    }

    private func authorize(
        _ request: RecordedRequest, url: URL?, _ authorization: Authorization
    ) -> MockTask.Outcome? {
        let form = request.form
        guard request.method == "POST", form["socket_id"] != nil || form["channel_name"] != nil, let url else { return nil }
        let answer: StubResponse
        do throws(HTTPRefusal) {
            answer = .json(
                try form["channel_name"] == nil ? authorization.user(form) : authorization.channel(form))
        } catch {
            answer = StubResponse(status: error.status, text: error.reason)
        }
        return outcome(answer, url: url)
    }

    private func outcome(_ answer: StubResponse, url: URL) -> MockTask.Outcome {
        let response = HTTPURLResponse(
            url: url, statusCode: answer.status, httpVersion: "HTTP/1.1", headerFields: answer.headers)
        return (answer.body, response, nil)
    }
}
