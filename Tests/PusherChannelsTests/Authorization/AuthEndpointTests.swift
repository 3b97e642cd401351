import Foundation
import PusherChannels
import TestSupport
import Testing

@Suite(.timeLimit(.lost)) struct AuthEndpointTests {
    private struct NoToken: Error {}

    private let session = MockSession(delivery: .immediate)
    /// Whether each call for the headers was a retry.
    private let retries = Locked<[Bool]>([])

    private func rig(
        _ status: Int = 200, _ body: String = #"{"auth":"k:s"}"#,
        encoding: AuthEndpoint.Encoding = .form, parameters: [String: String] = [:],
        headers: @escaping @Sendable (AuthorizationContext) throws -> [String: String] = { _ in [:] }
    ) -> ClientRig {
        session.stub(.any, StubResponse(status: status, body: Data(body.utf8)))
        var endpoint = AuthEndpoint("http://auth.example/auth")
        endpoint.encoding = encoding
        endpoint.parameters = { _ in parameters }
        endpoint.headers = { [retries] context in
            retries.withLock { $0.append(context.isRetry) }
            return try headers(context)
        }
        let used = endpoint
        let rig = ClientRig.connected(auth: .customEndpoint(used), { $0.userAuthMethod = .customEndpoint(used) })
        rig.pusher.connection.session = session
        return rig
    }

    private func subscribe(_ rig: ClientRig) async throws {
        rig.pusher.subscribe("private-a")
        try await rig.recorder.next { $0 == .subscribed(channel: "private-a") }
    }

    @Test func `An endpoint's own headers and parameters are sent with the authorization request`() async throws {
        let rig = rig(parameters: ["tenant": "a b", "after": "z"]) {
            ["Authorization": "Bearer of \($0.channelName ?? "nobody")"]
        }
        try await subscribe(rig)
        let request = try #require(session.requests.first)
        #expect(request.headers["Authorization"] == "Bearer of private-a")
        #expect(request.text == "socket_id=46123.486095&channel_name=private-a&after=z&tenant=a%20b")
    }

    @Test func `An authorization request can be sent as JSON`() async throws {
        let body = #"{"auth":"k:s","user_data":"{\"id\":\"ann\"}"}"#
        let rig = rig(200, body, encoding: .json, parameters: ["tenant": "7"])
        _ = try await rig.pusher.signIn()
        let request = try #require(session.requests.first)
        #expect(request.headers["Content-Type"] == "application/json")
        #expect(request.text == #"{"socket_id":"46123.486095","tenant":"7"}"#)
    }

    /// A server would refuse the signature of another channel without saying why.
    // Proves P14.1.
    @Test(arguments: [
        (AuthEndpoint.Encoding.form, "socket_id=46123.486095&channel_name=private-a&tenant=7"),
        (.json, #"{"channel_name":"private-a","socket_id":"46123.486095","tenant":"7"}"#),
    ])
    func `An endpoint's own parameters don't replace the client's`(encoding: AuthEndpoint.Encoding, body: String) async throws {
        let own = ["channel_name": "private-b", "socket_id": "1.1", "tenant": "7"]
        let rig = rig(encoding: encoding, parameters: own)
        try await subscribe(rig)
        #expect(session.requests.map(\.text) == [body])
    }

    // Proves P14.12.
    @Test func `After a 401, the headers are fetched once more and the request is repeated`() async throws {
        let rig = rig(401, "expired") { [session] context in
            if context.isRetry { session.stub(.any, .json(["auth": "k:s"])) }
            return ["Authorization": context.isRetry ? "fresh" : "stale"]
        }
        try await subscribe(rig)
        #expect(session.requests.map { $0.headers["Authorization"] } == ["stale", "fresh"])
        #expect(retries.withLock { $0 } == [false, true])
        #expect(rig.recorder.errors.isEmpty)
    }

    @Test(arguments: [(401, [false, true]), (400, [false]), (403, [false])])
    func `A second 401 or any other failure status fails the authorization`(status: Int, retries expected: [Bool]) async throws {
        let rig = rig(status, "no")
        rig.pusher.subscribe("private-a")
        let failure = try await rig.recorder.next { $0.failure != nil }
        #expect(failure.failure?.code == status)
        #expect(retries.withLock { $0 } == expected)
    }

    private static let refused = PusherError(.authorization, code: 401, message: "old")
    private static let busy = PusherError(.authorization, code: 429, message: "busy", retryAfter: .seconds(60))

    // Proves P14.14, P14.15.
    @Test(
        arguments: [
            (NoToken(), "NoToken", true, [false]), (busy, "busy", true, [false]), (refused, "old", false, [false, true]),
        ] as [(any Error, String, Bool, [Bool])])
    func `An error of the headers closure is reported and retried, but a 401 only once, with new headers`(
        error: any Error, words: String, isRetryable: Bool, retries expected: [Bool]
    ) async throws {
        let rig = rig { _ in throw error }
        rig.pusher.subscribe("private-a")
        let failure = try #require(try await rig.recorder.next { $0.failure != nil }.failure)
        #expect(failure.message.contains(words))
        #expect(failure.isRetryable == isRetryable)
        #expect(failure.retryAfter == (error as? PusherError)?.retryAfter)
        #expect(retries.withLock { $0 } == expected)
    }
}
