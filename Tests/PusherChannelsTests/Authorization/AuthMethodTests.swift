import PusherChannels
import TestSupport
import Testing

/// The methods that need no HTTP request from the SDK.
@Suite(.timeLimit(.lost)) struct AuthMethodTests {
    private func auths(_ rig: ClientRig) -> [String?] {
        rig.socket.frames.filter { $0.event == "pusher:subscribe" }.map { $0.dataString("auth") }
    }

    // Proves P14.6.
    @Test(
        arguments: [
            ([PusherAuth(auth: "key:own")], "key:own", nil),
            ([nil], nil, "the authorizer gave nothing for private-room"),
            ([PusherAuth(auth: "key:1"), nil, PusherAuth(auth: "key:2")], "key:1", nil),
        ] as [([PusherAuth?], String?, String?)])
    func `The first value of an authorizer is sent with the subscription, and nil fails it`(
        replies: [PusherAuth?], auth: String?, error: String?
    ) {
        let rig = ClientRig.connected(auth: .asking { reply in replies.forEach(reply) })
        rig.pusher.subscribe("private-room")
        #expect(auths(rig) == (auth.map { [$0] } ?? []))
        #expect(rig.recorder.errors.map(\.message) == (error.map { [$0] } ?? []))
        #expect(rig.recorder.subscribedChannels == (auth == nil ? [] : ["private-room"]))
    }

    @Test func `An empty secret fails channels and sign-ins with an error that says so`() {
        let rig = ClientRig.connected(auth: .inline(secret: "")) {
            $0.userAuthMethod = .inline(secret: "", userData: #"{"id":"ann"}"#)
        }
        rig.pusher.subscribe("private-room")
        rig.pusher.signIn { _ in }
        #expect(
            rig.recorder.errors.map(\.message) == Array(repeating: "the app's secret is empty: look where it is set", count: 2))
        #expect(rig.recorder.errors.allSatisfy { !$0.isRetryable })
    }

    // Proves P14.7.
    @Test(
        arguments: [
            (nil, #"{"user_id":"46123.486095","user_info":{}}"#),
            (PusherPresenceChannelMember(userID: "ann"), #"{"user_id":"ann","user_info":{}}"#),
            (
                PusherPresenceChannelMember(userID: "ann", userInfo: ["name": "Ann"]),
                #"{"user_id":"ann","user_info":{"name":"Ann"}}"#
            ),
        ] as [(PusherPresenceChannelMember?, String)])
    func `The client signs with the app's secret, for the member that userDataFetcher names, or else for the socket ID`(
        member: PusherPresenceChannelMember?, data: String
    ) throws {
        let rig = ClientRig(server: .checking(secret: "secret"))
        if let member { rig.pusher.connection.userDataFetcher = { member } }
        rig.pusher.connect()
        let room = rig.pusher.subscribe("presence-room") as? PusherPresenceChannel
        rig.pusher.subscribe("private-room")
        #expect(rig.recorder.subscribedChannels == ["presence-room", "private-room"], "the signatures are right")
        let frame = try #require(rig.socket.frames.first { $0.event == "pusher:subscribe" })
        #expect(frame.dataString("channel_data") == data)
        #expect(room?.me()?.userID == member?.userID ?? "46123.486095")
        #expect((room?.me()?.userInfo as? [String: String])?["name"] == (member?.userInfo as? [String: String])?["name"])
        #expect(room?["bob"] == nil)
    }

    // Proves P14.6.
    @Test func `An async handler's authorization is sent with the subscription`() async throws {
        let rig = ClientRig.connected(auth: .customHandler { PusherAuth(auth: "key:\($0)/\($1)") })
        rig.pusher.subscribe("private-room")
        try await rig.recorder.next { $0 == .subscribed(channel: "private-room") }
        #expect(auths(rig) == ["key:46123.486095/private-room"])
    }

    // Proves P14.6.
    @Test func `The code of an error that an async handler throws appears once in the report`() async throws {
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
    @Test func `Unsubscribing a channel cancels its async handler`() async throws {
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
}
