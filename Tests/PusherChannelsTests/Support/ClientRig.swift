import Foundation
import TestSupport
import Testing

@testable import PusherChannels

/// A client with a mock socket and a mock session in virtual time. Everything is delivered immediately, so when a call
/// returns, all of its effects have happened.
struct ClientRig {
    let scheduler = TestScheduler()
    let socket: MockWebSocket
    let session = MockSession(delivery: .immediate)
    let pusher: Pusher
    let recorder: RecordingDelegate

    init(
        server: MockWebSocket.Server = .trusting, key: String = "key", auth: AuthMethod = .inline(secret: "secret"),
        _ change: (inout PusherClientOptions) -> Void = { _ in }
    ) {
        var options = PusherClientOptions(authMethod: auth, delivery: .immediate)
        change(&options)
        let socket = MockWebSocket(server: server)
        self.socket = socket
        let environment = PusherEnvironment(
            scheduler: scheduler, httpSession: session, makeWebSocket: { socket }, randomSeed: { 1 })
        pusher = Pusher(key: key, options: options, environment: environment)
        recorder = RecordingDelegate(of: pusher)
    }

    static func connected(
        server: MockWebSocket.Server = .trusting, auth: AuthMethod = .inline(secret: "secret"),
        _ change: (inout PusherClientOptions) -> Void = { _ in }
    ) -> ClientRig {
        let rig = ClientRig(server: server, auth: auth, change)
        rig.pusher.connect()
        return rig
    }

    /// Creates a client whose connection is established, to a server that answers nothing by itself.
    static func unanswered(
        auth: AuthMethod = .inline(secret: "secret"), _ change: (inout PusherClientOptions) -> Void = { _ in }
    ) -> ClientRig {
        let rig = ClientRig.connected(server: .manual, auth: auth, change)
        rig.socket.accept()
        rig.socket.serverEstablishes()
        return rig
    }
}

extension ClientRig {
    /// Publishes events `n` on the channel `news`, with these numbers as their data.
    func publish(_ numbers: Range<Int>) {
        for number in numbers { socket.publish(channel: "news", event: "n", data: "\(number)") }
    }

    /// Receives messages that came in one read, and may have waited for as long as this.
    func read(_ messages: [String], age: Duration = .zero) {
        guard let attempt = socket.currentAttempt else {
            Issue.record("there is no connection to read")
            return
        }
        MessageBatch.with(messages.map { (.text, Array($0.utf8)) }, .told(age: age)) {
            pusher.connection.webSocketDidReceive($0, attempt: attempt)
        }
    }

    /// Answers every HTTP request from now on with this response.
    func respond(_ body: String, status: Int = 200) {
        session.removeAllStubs()
        session.stub(.any, StubResponse(status: status, body: Data(body.utf8)))
    }
}

extension AuthMethod {
    /// An authorizer that does this with its reply.
    static func asking(_ fetch: @escaping @Sendable (@escaping @Sendable (PusherAuth?) -> Void) -> Void) -> AuthMethod {
        .authorizer(authorizer: ClosureAuthorizer(fetch: fetch))
    }
}

private struct ClosureAuthorizer: Authorizer {
    let fetch: @Sendable (@escaping @Sendable (PusherAuth?) -> Void) -> Void

    func fetchAuthValue(socketID: String, channelName: String, completionHandler: @escaping @Sendable (PusherAuth?) -> Void) {
        fetch(completionHandler)
    }
}
