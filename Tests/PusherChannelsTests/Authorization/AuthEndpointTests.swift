import Foundation
import PusherChannels
import TestSupport
import Testing

@Suite(.timeLimit(.lost)) struct AuthEndpointTests {
    private struct NoToken: Error {}

    private let session = MockSession(delivery: .immediate)
    private let asked = Locked<[AuthorizationContext]>([])

    private func reply(_ status: Int, _ body: String) {
        session.removeAllStubs()
        session.stub(.any, StubResponse(status: status, body: Data(body.utf8)))
    }

    private func rig(_ change: (inout AuthEndpoint) -> Void) -> ClientRig {
        var endpoint = AuthEndpoint("http://auth.example/auth")
        change(&endpoint)
        let endpointInUse = endpoint
        let rig = ClientRig.connected(
            auth: .customEndpoint(endpointInUse), { $0.userAuthMethod = .customEndpoint(endpointInUse) })
        rig.pusher.connection.session = session
        return rig
    }

    @Test func `An endpoint's own headers and parameters are sent with the authorization request`() async throws {
        reply(200, #"{"auth":"k:s"}"#)
        let rig = rig {
            $0.headers = { context in ["Authorization": "Bearer of \(context.channelName ?? "nobody")"] }
            $0.parameters = { _ in ["tenant": "a b", "after": "z"] }
        }
        rig.pusher.subscribe("private-a")
        try await rig.recorder.next { $0 == .subscribed(channel: "private-a") }
        let request = try #require(session.requests.first)
        #expect(request.headers["Authorization"] == "Bearer of private-a")
        #expect(request.text == "socket_id=46123.486095&channel_name=private-a&after=z&tenant=a%20b")
    }

    @Test func `An authorization request can be sent as JSON`() async throws {
        reply(200, #"{"auth":"k:s","user_data":"{\"id\":\"ann\"}"}"#)
        let rig = rig {
            $0.encoding = .json
            $0.parameters = { _ in ["tenant": "7"] }
        }
        _ = try await rig.pusher.signIn()
        let request = try #require(session.requests.first)
        #expect(request.headers["Content-Type"] == "application/json")
        #expect(request.text == #"{"socket_id":"46123.486095","tenant":"7"}"#)
    }

    /// A server would refuse the signature of another channel without saying why.
    // Proves P14.1.
    @Test(arguments: [AuthEndpoint.Encoding.form, .json])
    func `An endpoint's own parameters never replace the socket ID and the channel name`(encoding: AuthEndpoint.Encoding)
        async throws
    {
        reply(200, #"{"auth":"k:s"}"#)
        let rig = rig {
            $0.encoding = encoding
            $0.parameters = { _ in ["channel_name": "private-b", "socket_id": "1.1", "tenant": "7"] }
        }
        rig.pusher.subscribe("private-a")
        try await rig.recorder.next { $0 == .subscribed(channel: "private-a") }
        let json = #"{"channel_name":"private-a","socket_id":"46123.486095","tenant":"7"}"#
        let form = "socket_id=46123.486095&channel_name=private-a&tenant=7"
        #expect(session.requests.map(\.text) == [encoding == .json ? json : form])
    }

    // Proves P14.12.
    @Test func `After a 401, the headers are fetched once more and the request is repeated`() async throws {
        reply(401, "expired")
        let rig = rig {
            $0.headers = { [asked, session] context in
                asked.withLock { $0.append(context) }
                if context.isRetry { session.stub(.any, .json(["auth": "k:s"])) }
                return ["Authorization": context.isRetry ? "fresh" : "stale"]
            }
        }
        rig.pusher.subscribe("private-a")
        try await rig.recorder.next { $0 == .subscribed(channel: "private-a") }
        #expect(session.requests.map { $0.headers["Authorization"] } == ["stale", "fresh"])
        #expect(asked.withLock { $0.map(\.isRetry) } == [false, true])
        #expect(rig.recorder.errors.isEmpty)
    }

    @Test(arguments: [(401, [false, true]), (400, [false]), (403, [false])])
    func `A second 401 or any other failure status fails the authorization`(status: Int, retries: [Bool]) async throws {
        reply(status, "no")
        let rig = rig {
            $0.headers = { [asked] context in
                asked.withLock { $0.append(context) }
                return [:]
            }
        }
        rig.pusher.subscribe("private-a")
        let failure = try await rig.recorder.next { $0.failure != nil }
        #expect(failure.failure?.code == status)
        #expect(asked.withLock { $0.map(\.isRetry) } == retries)
    }

    private static let refused = PusherError(.authorization, code: 401, message: "old")
    private static let busy = PusherError(.authorization, code: 429, message: "busy", retryAfter: .seconds(60))

    // Proves P14.14, P14.15.
    @Test(
        arguments: [
            (NoToken(), "NoToken", true, [false]), (busy, "busy", true, [false]), (refused, "old", false, [false, true]),
        ] as [(any Error, String, Bool, [Bool])])
    func `An error that the headers closure throws is reported and retried, but a 401 only once, with new headers`(
        error: any Error, words: String, isRetryable: Bool, retries: [Bool]
    ) async throws {
        let rig = rig {
            $0.headers = { [asked] context in
                asked.withLock { $0.append(context) }
                throw error
            }
        }
        rig.pusher.subscribe("private-a")
        let failure = try #require(try await rig.recorder.next { $0.failure != nil }.failure)
        #expect(failure.message.contains(words))
        #expect(failure.isRetryable == isRetryable)
        #expect(failure.retryAfter == (error as? PusherError)?.retryAfter)
        #expect(asked.withLock { $0.map(\.isRetry) } == retries)
    }

    @Test func `An auth method's description shows the endpoint's address but no headers`() {
        var endpoint = AuthEndpoint("http://auth.example/auth")
        endpoint.headers = { _ in ["Authorization": "Bearer s3cret"] }
        #expect("\(AuthMethod.customEndpoint(endpoint))" == "customEndpoint(http://auth.example/auth)")
    }
}
