import TestSupport
import Testing

@testable import PusherChannels

@Suite struct UserTests {
    private let success = #"{"event":"pusher:signin_success","data":{"user_data":"{\"id\":\"ann\"}"}}"#
    private let auth = PusherUserAuth(auth: "k:s", userData: #"{"id":"ann"}"#)
    private let channel: Name = "#server-to-user-ann"

    /// Returns the attempt whose authorization is requested.
    private func asked(_ outputs: [Output]) -> UserMachine.Attempt? {
        outputs.compactMap { if case .command(.authorizeUser(let attempt, _)) = $0 { attempt } else { nil } }.first
    }

    private func signingIn() throws -> Transcript {
        var transcript = Transcript.connected()
        let attempt = try #require(asked(transcript.play(.signIn)))
        transcript.play(.userAuthorized(attempt, .success(auth)))
        return transcript
    }

    private func signedIn() throws -> Transcript {
        var transcript = try signingIn()
        transcript.receive(success)
        return transcript
    }

    private func failures(_ outputs: [Output]) -> [PusherError] {
        outputs.deliveries.compactMap { if case .signInFailed(let error) = $0 { error } else { nil } }
    }

    // Proves P9.1, P9.3, P9.6.
    @Test func `A user is authorized, signed in, and subscribed to a channel of their own`() throws {
        var transcript = Transcript.connected()
        let outputs = transcript.play(.signIn)
        #expect(
            outputs == [.command(.authorizeUser(UserMachine.Attempt(connection: transcript.attempt, number: 1), socketID: "1.1"))]
        )
        #expect(
            transcript.play(.userAuthorized(try #require(asked(outputs)), .success(auth))) == [
                .command(.send(.signIn(auth: "k:s", userData: #"{"id":"ann"}"#)))
            ])
        let signedIn = transcript.receive(success)
        #expect(signedIn.deliveries.contains(.signedIn(userID: "ann")))
        #expect(signedIn.sent == [.subscribe(channel: channel.text, auth: nil, channelData: nil)])
        #expect(transcript.machine.user.id == "ann")
    }

    // Proves P9.3.
    @Test(arguments: [
        #"{"user_data":{"id":"ann"}}"#, #""{\"user_data\":\"{\\\"id\\\":\\\"ann\\\"}\"}""#,
        #"{"auth":"k:s","user_data":"{\"id\":\"ann\",\"watchlist\":[\"b\"]}"}"#,
    ])
    func `A sign-in succeeds whether its data is a value or a string that holds one`(data: String) throws {
        var transcript = try signingIn()
        transcript.receive(#"{"event":"pusher:signin_success","data":\#(data)}"#)
        #expect(transcript.machine.user.id == "ann")
    }

    @Test(arguments: ["{}", #"{"user_data":"no json"}"#, #"{"user_data":{}}"#, #"{"user_data":{"id":""}}"#])
    func `A sign-in success without a user id is malformed and signs nobody in`(data: String) throws {
        var transcript = try signingIn()
        let outputs = transcript.receive(#"{"event":"pusher:signin_success","data":\#(data)}"#)
        #expect(outputs.errors.map(\.kind) == [.malformedMessage])
        #expect(transcript.machine.user.id == nil)
    }

    // Proves P9.6.
    @Test(arguments: [
        nil, ##"{"event":"pusher:subscription_error","channel":"#server-to-user-ann","data":{"status":401,"error":"no"}}"##,
    ])
    func `A user's events are delivered even if the user's channel is refused or never confirmed`(refusal: String?) throws {
        var transcript = try signedIn()
        if let refusal { transcript.receive(refusal) } else { transcript.pass(.seconds(30)) }
        let outputs = transcript.receive(##"{"event":"note","channel":"#server-to-user-ann","data":"hi"}"##)
        #expect(outputs.deliveries.contains { if case .userEvent = $0 { true } else { false } })
    }

    // Proves P12.2.
    @Test func `The application can neither subscribe to the user's channel nor unsubscribe from it`() throws {
        var transcript = try signedIn()
        #expect(transcript.play(.unsubscribe(channel: channel)).isEmpty)
        #expect(transcript.machine.subscriptions[channel] != nil)
        var unchecked = Transcript.connected { $0.limits = .unchecked }
        #expect(unchecked.play(.subscribe(channel: channel, auth: nil)).sent.isEmpty)
        #expect(unchecked.machine.subscriptions[channel] == nil)
    }

    // Proves P9.2.
    @Test func `Each connection signs the user in again before it subscribes to the user's channel`() throws {
        var transcript = try signedIn()
        transcript.play(.subscribe(channel: "room", auth: nil))
        transcript.close(4200)
        #expect(transcript.machine.user.id == nil)
        let outputs = transcript.establish()
        let again = try #require(asked(outputs))
        #expect(again.number == 2)
        #expect(outputs.sent == [.subscribe(channel: "room", auth: nil, channelData: nil)], "not the user's before the sign-in")
        transcript.play(.userAuthorized(again, .success(auth)))
        #expect(transcript.receive(success).sent == [.subscribe(channel: channel.text, auth: nil, channelData: nil)])
    }

    @Test func `A repeated request to sign in starts no second sign-in`() throws {
        var transcript = try signingIn()
        #expect(transcript.play(.signIn).isEmpty)
        transcript.receive(success)
        #expect(transcript.play(.signIn) == [.deliver(.signedIn(userID: "ann"))])
    }

    // Proves P9.5.
    @Test func `A refused authorization of the user ends the sign-in but not the connection`() throws {
        var transcript = Transcript.subscribing(to: "room")
        let attempt = try #require(asked(transcript.play(.signIn)))
        let outputs = transcript.play(.userAuthorized(attempt, .failure(AuthorizationFailure(message: "no", status: 403))))
        #expect(failures(outputs) == [PusherError(.authorization, code: 403, message: "no")])
        #expect(transcript.machine.state == .connected)
        #expect(asked(transcript.play(.signIn)) != nil, "it can be asked for again")
    }

    // Proves P9.5.
    @Test func `A user's authorization not answered within 15 seconds times out, and its answer is ignored`() throws {
        var transcript = Transcript.connected()
        let attempt = try #require(asked(transcript.play(.signIn)))
        let outputs = transcript.pass(.seconds(15))
        #expect(outputs.contains(.command(.cancelUserAuthorization(attempt, unansweredFor: .seconds(15)))))
        #expect(failures(outputs).map(\.kind) == [.timedOut])
        #expect(transcript.play(.userAuthorized(attempt, .success(auth))).sent.isEmpty, "its answer is stale")
    }

    // Proves P9.5.
    @Test func `A sign-in that the server doesn't answer within 30 seconds times out, but a later success counts`() throws {
        var transcript = try signingIn()
        #expect(failures(transcript.pass(.seconds(30))).map(\.kind) == [.timedOut])
        transcript.receive(success)
        #expect(transcript.machine.user.id == "ann")
    }

    // Proves P9.4.
    @Test(arguments: [4009, 4200, nil] as [Int?])
    func `An error that names no channel ends the sign-in under way, unless a success follows`(code: Int?) throws {
        var transcript = try signingIn()
        let data = code.map { #"{"code":\#($0),"message":"no"}"# } ?? #"{"message":"no"}"#
        let outputs = transcript.receive(#"{"event":"pusher:error","data":\#(data)}"#)
        #expect(failures(outputs) == [PusherError(.server, code: code, message: "no")])
        #expect(transcript.machine.state == .connected)
        #expect(transcript.receive(success).deliveries.contains(.signedIn(userID: "ann")), "it was about something else")
        #expect(transcript.machine.user.id == "ann")
    }

    // Proves P9.8.
    @Test(arguments: [4301, 4302]) func `An error about client events or the watchlist doesn't end the sign-in under way`(
        code: Int
    ) throws {
        var transcript = try signingIn()
        transcript.receive(#"{"event":"pusher:error","data":{"code":\#(code),"message":"too many"}}"#)
        transcript.receive(success)
        #expect(transcript.machine.user.id == "ann")
    }

    // Proves P9.4, P14.10.
    @Test(arguments: [false, true]) func `If a sign-in succeeds after an error, the error was the refusal of the pending channel`(
        isAskedAgain: Bool
    ) throws {
        var transcript = try signingIn()
        transcript.play(.subscribe(channel: "private-room", auth: PusherAuth(auth: "k:s")))
        transcript.receive(#"{"event":"pusher:error","data":{"code":4009,"message":"no"}}"#)
        if isAskedAgain {
            // The success may belong to the second attempt, in which case the first was refused.
            let again = try #require(asked(transcript.play(.signIn)))
            transcript.play(.userAuthorized(again, .success(auth)))
        }
        let refusals = transcript.receive(success).deliveries.compactMap {
            if case .subscriptionFailed("private-room", let failure) = $0 { failure.error.code } else { nil }
        }
        #expect(refusals == (isAskedAgain ? [] : [4009]))
    }

    // Proves P9.4.
    @Test func `A success of an earlier sign-in counts and cancels the authorization of the next try`() throws {
        var transcript = try signingIn()
        transcript.receive(#"{"event":"pusher:error","data":{"code":4009,"message":"no"}}"#)
        let again = try #require(asked(transcript.play(.signIn)))
        let outputs = transcript.receive(success)
        #expect(outputs.contains(.command(.cancelUserAuthorization(again))))
        #expect(outputs.deliveries.contains(.signedIn(userID: "ann")))
        #expect(transcript.play(.userAuthorized(again, .success(auth))).sent.isEmpty)
    }

    @Test func `A success that no sign-in on the connection asked for is ignored`() throws {
        var transcript = Transcript.connected()
        transcript.receive(success)
        #expect(transcript.machine.user.id == nil)
        let attempt = try #require(asked(transcript.play(.signIn)))
        transcript.play(.userAuthorized(attempt, .failure(AuthorizationFailure(message: "no", status: 403))))
        transcript.receive(success)
        #expect(transcript.machine.user.id == nil)
        transcript = try signingIn()
        transcript.restart()
        transcript.receive(success)
        #expect(transcript.machine.user.id == nil, "nor does an earlier connection's")
    }

    @Test func `Disconnecting a client whose user was signed in reports no failed sign-in`() throws {
        var transcript = try signedIn()
        transcript.play(.disconnect)
        #expect(failures(transcript.close(1000)).isEmpty)
        transcript.play(.connect)
        #expect(asked(transcript.establish()) != nil, "the wish remains")
        transcript.play(.disconnect)
        #expect(failures(transcript.close(1000)).isEmpty, "nor in the middle of signing in again")
    }

    @Test func `A sign-in requested while the connection is lost fails when the client disconnects`() throws {
        var transcript = try signedIn()
        transcript.close(1006)
        #expect(transcript.play(.signIn).isEmpty)
        #expect(failures(transcript.play(.disconnect)).map(\.kind) == [.transport(.cancelled)])
    }

    @Test func `Releasing the client fails a pending sign-in, once`() throws {
        var transcript = try signingIn()
        #expect(failures(transcript.play(.clientReleased)).map(\.kind) == [.transport(.cancelled)])
        #expect(failures(transcript.close(1000)).isEmpty, "once")
    }

    @Test func `Disconnecting fails a pending sign-in, and the next connection tries it again`() throws {
        var transcript = try signingIn()
        transcript.play(.disconnect)
        #expect(failures(transcript.close(1000)).map(\.kind) == [.transport(.cancelled)])
        #expect(transcript.machine.nextDeadline == nil)
        transcript.play(.connect)
        #expect(asked(transcript.establish()) != nil, "the wish remains")
    }

    @Test func `A pending sign-in fails with the error for which the client gives up`() {
        var transcript = Transcript()
        transcript.play(.connect)
        transcript.play(.signIn)
        #expect(failures(transcript.close(4001)).map(\.code) == [4001])
    }

    @Test func `A sign-in requested after the client gave up fails at once with the same error`() {
        var transcript = Transcript()
        transcript.play(.connect)
        transcript.close(4001)
        for _ in 0..<2 { #expect(failures(transcript.play(.signIn)).map(\.code) == [4001]) }
        transcript.play(.disconnect)
        #expect(failures(transcript.play(.signIn)).map(\.code) == [4001], "it is disconnected already")
        transcript.play(.connect)
        #expect(asked(transcript.establish()) != nil, "the wish remains")
    }

    @Test func `A pending sign-in doesn't fail with a lost connection and is tried on the next one`() throws {
        var transcript = try signingIn()
        #expect(failures(transcript.close(4200)).isEmpty)
        #expect(asked(transcript.establish()) != nil)
    }

    // Proves P9.6.
    @Test func `A possible gap in the user's events between two connections is reported`() throws {
        var transcript = try signedIn()
        transcript.succeed(channel)
        transcript.pass(.seconds(10))
        transcript.play(.userAuthorized(try #require(asked(transcript.restart())), .success(auth)))
        let outputs = transcript.receive(success) + transcript.succeed(channel)
        #expect(outputs.deliveries.filter { if case .gap = $0 { true } else { false } }.count == 1)
    }

    // Proves P9.6.
    @Test func `A gap in the user's events is reported even if the user's channel isn't confirmed again`() throws {
        var transcript = try signedIn()
        transcript.pass(.seconds(10))
        transcript.receive(##"{"event":"note","channel":"#server-to-user-ann","data":"hi"}"##)
        transcript.play(.userAuthorized(try #require(asked(transcript.restart())), .success(auth)))
        #expect(transcript.receive(success).deliveries.contains(.gap(channel: channel, since: .seconds(10))))
        #expect(!transcript.succeed(channel).deliveries.contains { if case .gap = $0 { true } else { false } })
    }

    @Test func `Signing in another user on the next connection reports no gap`() throws {
        var transcript = try signedIn()
        transcript.succeed(channel)
        transcript.play(.userAuthorized(try #require(asked(transcript.restart())), .success(auth)))
        transcript.receive(#"{"event":"pusher:signin_success","data":{"user_data":"{\"id\":\"bob\"}"}}"#)
        let gaps = transcript.succeed("#server-to-user-bob").deliveries.filter { if case .gap = $0 { true } else { false } }
        #expect(gaps.isEmpty)
    }

    // Proves P9.6.
    @Test func `Events of the user's channel go to the user, and those of another user's are dropped`() throws {
        var transcript = try signedIn()
        let outputs = transcript.receive(##"{"event":"note","channel":"#server-to-user-ann","data":"hi"}"##)
        #expect(outputs.deliveries == [.userEvent(Envelope(event: "note", channel: channel, data: "hi"))])
        #expect(transcript.receive(##"{"event":"note","channel":"#server-to-user-bob","data":"hi"}"##).deliveries.isEmpty)
    }

    // Proves P9.7.
    @Test func `Watchlist events report which users are online and offline`() throws {
        var transcript = try signedIn()
        let data = #"{"events":[{"name":"online","user_ids":["1",2]},{"name":"offline","user_ids":["3"]}]}"#
        for form in [data, data.quotedJSON] {
            let outputs = transcript.receive(#"{"event":"pusher_internal:watchlist_events","data":\#(form)}"#)
            #expect(
                outputs.deliveries == [
                    .watchlist(WatchlistEvent(name: "online", userIDs: ["1", "2"])),
                    .watchlist(WatchlistEvent(name: "offline", userIDs: ["3"])),
                ])
        }
        for odd in ["{}", "[]", "null", #"{"events":[{},7,{"name":"online"}]}"#] {
            transcript.receive(#"{"event":"pusher_internal:watchlist_events","data":\#(odd)}"#)
        }
    }

    // Proves P2.4, P9.7.
    @Test func `A plain online event with user ids counts as a watchlist event`() throws {
        var transcript = try signedIn()
        let outputs = transcript.receive(#"{"event":"online","data":{"user_ids":["1"]}}"#)
        #expect(outputs.deliveries.contains(.watchlist(WatchlistEvent(name: "online", userIDs: ["1"]))))
        let other = transcript.receive(#"{"event":"online","data":"an application's own"}"#)
        #expect(other.deliveries == [.event(Envelope(event: "online", data: "an application's own"))])
    }
}
