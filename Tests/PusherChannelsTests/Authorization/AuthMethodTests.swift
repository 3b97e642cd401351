import PusherChannels
import TestSupport
import Testing

/// The methods that need no HTTP request from the SDK.
@Suite(.timeLimit(.lost)) struct AuthMethodTests {
    private struct OwnAuthorizer: Authorizer {
        let replies: [PusherAuth?]

        func fetchAuthValue(
            socketID: String, channelName: String, completionHandler: @escaping @Sendable (PusherAuth?) -> Void
        ) {
            for reply in replies { completionHandler(reply) }
        }
    }

    private func auths(_ rig: ClientRig) -> [String?] {
        rig.socket.frames.filter { $0.event == "pusher:subscribe" }.map { $0.dataString("auth") }
    }

    // MARK: Authorizer

    // Proves P14.6.
    @Test func whatTheAuthorizerGivesIsSent() {
        let rig = ClientRig.connected(auth: .authorizer(authorizer: OwnAuthorizer(replies: [PusherAuth(auth: "key:own")])))
        rig.pusher.subscribe("private-room")
        #expect(auths(rig) == ["key:own"])
        #expect(rig.recorder.subscribedChannels == ["private-room"])
    }

    // Proves P14.6.
    @Test func anAuthorizerWithNothingIsAFailure() {
        let rig = ClientRig.connected(auth: .authorizer(authorizer: OwnAuthorizer(replies: [nil])))
        rig.pusher.subscribe("private-room")
        #expect(rig.recorder.errors.map(\.message) == ["the authorizer gave nothing for private-room"])
    }

    // Proves P14.6.
    @Test func onlyTheFirstReplyCounts() {
        let replies = [PusherAuth(auth: "key:1"), nil, PusherAuth(auth: "key:2")]
        let rig = ClientRig.connected(auth: .authorizer(authorizer: OwnAuthorizer(replies: replies)))
        rig.pusher.subscribe("private-room")
        #expect(auths(rig) == ["key:1"])
        #expect(rig.recorder.errors.isEmpty)
    }

    // Proves P6.8.
    @Test func anAuthorizerThatNeverCallsBackIsGivenUp() {
        let rig = ClientRig.connected(auth: .authorizer(authorizer: OwnAuthorizer(replies: [])))
        rig.pusher.subscribe("private-room")
        rig.scheduler.advance(by: .seconds(15))
        #expect(rig.recorder.errors.map(\.kind) == [.timedOut])
    }

    // MARK: A secret

    @Test func anEmptySecretSignsNothing() {
        let rig = ClientRig.connected(auth: .inline(secret: "")) {
            $0.userAuthMethod = .inline(secret: "", userData: #"{"id":"ann"}"#)
        }
        rig.pusher.subscribe("private-room")
        rig.pusher.signIn { _ in }
        #expect(
            rig.recorder.errors.map(\.message) == Array(repeating: "the app's secret is empty: look where it is set", count: 2))
    }

    // Proves P14.7.
    @Test func signaturesMadeHereAreAccepted() {
        let rig = ClientRig.connected(server: .checking(secret: "secret"))
        rig.pusher.subscribe("private-room")
        rig.pusher.subscribe("presence-room")
        #expect(rig.recorder.subscribedChannels == ["private-room", "presence-room"])
    }

    // Proves P14.7.
    @Test func aSecretSignsNothingForASocketIDThatIsNotTwoNumbers() throws {
        let rig = ClientRig(server: .manual) { $0.userAuthMethod = .inline(secret: "secret", userData: #"{"id":"ann"}"#) }
        rig.pusher.connect()
        rig.socket.accept()
        rig.socket.serverEstablishes(socketID: "3f-a9")
        rig.pusher.subscribe("private-room")
        rig.pusher.signIn { _ in }
        #expect(rig.recorder.errors.map(\.kind) == [.authorization, .authorization])
        #expect(rig.recorder.errors.allSatisfy { $0.message.contains("\"3f-a9\" isn't a socket id") && !$0.isRetryable })
    }

    @Test func whoIsThereIsWhoTheApplicationSays() {
        let rig = ClientRig(server: .checking(secret: "secret"))
        rig.pusher.connection.userDataFetcher = { PusherPresenceChannelMember(userId: "ann", userInfo: ["name": "Ann"]) }
        rig.pusher.connect()
        let room = rig.pusher.subscribe("presence-room") as? PusherPresenceChannel
        #expect(room?.me()?.userId == "ann")
        #expect(room?.me()?.userInfo as? [String: String] == ["name": "Ann"])
        #expect(room?.findMember(userId: "bob") == nil)
    }

    // Proves P14.7.
    @Test(arguments: [nil, PusherPresenceChannelMember(userId: "ann")])
    func ofWhomNothingIsKnownThatIsSaid(member: PusherPresenceChannelMember?) throws {
        let rig = ClientRig(server: .checking(secret: "secret"))
        if let member { rig.pusher.connection.userDataFetcher = { member } }
        rig.pusher.connect()
        rig.pusher.subscribe("presence-room")
        let frame = try #require(rig.socket.frames.first { $0.event == "pusher:subscribe" })
        let id = member?.userId ?? "46123.486095"
        #expect(frame.dataString("channel_data") == #"{"user_id":"\#(id)","user_info":{}}"#)
    }

    // Proves P6.2.
    @Test func aPublicChannelIsNotSigned() {
        let rig = ClientRig.connected(server: .checking(secret: "secret"))
        rig.pusher.subscribe("news")
        #expect(auths(rig) == [nil])
    }

    // MARK: Async code

    private struct NotToday: Error, CustomStringConvertible {
        let description = "not today"
    }

    // Proves P14.6.
    @Test func whatAsyncCodeReturnsIsSent() async throws {
        let rig = ClientRig.connected(
            auth: .customHandler { socketID, channel in PusherAuth(auth: "key:\(socketID)/\(channel)") })
        rig.pusher.subscribe("private-room")
        try await rig.recorder.next { $0 == .subscribed(channel: "private-room") }
        #expect(auths(rig) == ["key:46123.486095/private-room"])
    }

    // Proves P14.6.
    @Test func whatAsyncCodeThrowsIsReported() async throws {
        let rig = ClientRig.connected(auth: .customHandler { _, _ in throw NotToday() })
        rig.pusher.subscribe("private-room")
        let failure = try await rig.recorder.next { $0.failure != nil }.failure
        #expect(failure == PusherError(.authorization, message: "the authorization handler failed: not today"))
    }

    // Proves P14.6.
    @Test func theCodeOfWhatAsyncCodeThrowsIsSaidOnce() async throws {
        let noSuchUser = PusherError(.authorization, code: 404, message: "no such user")
        let rig = ClientRig.connected(auth: .customHandler { _, _ in throw noSuchUser }) {
            $0.userAuthMethod = .customHandler { _ in throw noSuchUser }
        }
        rig.pusher.subscribe("private-room")
        let failure = try await rig.recorder.next { $0.failure != nil }.failure
        #expect(failure?.description == "the authorization handler failed: no such user (code 404)")
        let error = await #expect(throws: PusherError.self) { try await rig.pusher.signIn() }
        #expect(error?.description == "the authorization handler failed: no such user (code 404)")
    }

    // Proves P14.6.
    @Test func asyncCodeIsCancelledWhenItsReplyIsWantedNoLonger() async throws {
        let (cancelled, continuation) = AsyncStream<Void>.makeStream()
        let rig = ClientRig.connected(
            auth: .customHandler { _, _ in
                let (never, unused) = AsyncStream<Void>.makeStream()
                await withTaskCancellationHandler {
                    for await _ in never {}
                } onCancel: {
                    continuation.finish()
                    unused.finish()
                }
                throw CancellationError()
            })
        rig.pusher.subscribe("private-room")
        rig.pusher.unsubscribe("private-room")
        for await _ in cancelled {}
        #expect(rig.recorder.errors.isEmpty)
    }

    // MARK: None

    @Test func withoutAMethodTheErrorSaysWhatToSet() {
        let rig = ClientRig.connected(auth: .noMethod)
        rig.pusher.subscribe("private-room")
        #expect(rig.recorder.errors.map(\.kind) == [.authorization])
        #expect(rig.recorder.errors.first?.message.contains("set PusherClientOptions.authMethod") == true)
        #expect(rig.pusher.subscribe("news").subscribed)
    }
}
