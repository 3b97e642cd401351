import TestSupport
import Testing

@testable import PusherChannels

@Suite struct UserTests {
    private let channel: Name = "#server-to-user-ann"
    private let subscription = ClientMessage.subscription(to: "#server-to-user-ann")
    private let note = ##"{"event":"note","channel":"#server-to-user-ann","data":"hi"}"##

    private func signingIn() throws -> Transcript {
        var transcript = Transcript.connected()
        try transcript.authorizeUser(transcript.play(.signIn))
        return transcript
    }

    private func signedIn() throws -> Transcript {
        var transcript = try signingIn()
        transcript.receive(.signInSuccess)
        return transcript
    }

    // Proves P9.1, P9.3, P9.6.
    @Test func `A user is authorized, signed in, and subscribed to a channel of their own`() throws {
        var transcript = Transcript.connected()
        let outputs = transcript.play(.signIn)
        let attempt = UserMachine.Attempt(connection: transcript.attempt, number: 1)
        #expect(outputs == [.command(.authorizeUser(attempt, socketID: "1.1"))])
        #expect(try transcript.authorizeUser(outputs) == [.send(.signIn(auth: "k:s", userData: #"{"id":"ann"}"#))])
        let signedIn = transcript.receive(.signInSuccess)
        #expect(signedIn.deliveries.contains(.signedIn(userID: "ann")))
        #expect(signedIn.sent == [subscription])
        #expect(transcript.machine.user.id == "ann")
        #expect(transcript.play(.signIn) == [.deliver(.signedIn(userID: "ann"))], "no second sign-in begins")
    }

    // Proves P9.3.
    @Test(
        arguments: [
            (#"{"user_data":{"id":"ann"}}"#, "ann"), (#""{\"user_data\":\"{\\\"id\\\":\\\"ann\\\"}\"}""#, "ann"),
            (#"{"auth":"k:s","user_data":"{\"id\":\"ann\",\"watchlist\":[\"b\"]}"}"#, "ann"),
            ("{}", nil), (#"{"user_data":"no json"}"#, nil), (#"{"user_data":{}}"#, nil), (#"{"user_data":{"id":""}}"#, nil),
        ] as [(String, Name?)])
    func `A sign-in success is read in any form, but without a user id it is malformed`(data: String, user: Name?) throws {
        var transcript = try signingIn()
        let outputs = transcript.receive(#"{"event":"pusher:signin_success","data":\#(data)}"#)
        #expect(transcript.machine.user.id == user)
        #expect(outputs.errors.map(\.kind) == (user == nil ? [.malformedMessage] : []))
    }

    // Proves P9.2.
    @Test func `Each connection signs the user in again before it subscribes to the user's channel`() throws {
        var transcript = try signedIn()
        transcript.subscribe("room")
        transcript.close(4200)
        #expect(transcript.machine.user.id == nil)
        let outputs = transcript.establish()
        #expect(outputs.userAttempt?.number == 2)
        #expect(outputs.sent == [.subscription(to: "room")], "not the user's before the sign-in")
        try transcript.authorizeUser(outputs)
        #expect(transcript.receive(.signInSuccess).sent == [subscription])
    }

    // MARK: The user's channel

    // Proves P9.6.
    @Test(arguments: [nil, 401])
    func `A user's events are delivered even if the user's channel is refused or never confirmed`(refusal: Int?) throws {
        var transcript = try signedIn()
        if let refusal { transcript.receiveRefusal(of: channel, status: refusal) } else { transcript.pass(.seconds(30)) }
        #expect(transcript.machine.subscriptions.counts == .init(), "a service is ready without it")
        let event = Envelope(event: "note", channel: channel, data: "hi")
        #expect(transcript.receive(note).deliveries == [.userEvent(event)])
        #expect(transcript.receive(##"{"event":"note","channel":"#server-to-user-bob","data":"hi"}"##).deliveries.isEmpty)
    }

    // Proves P12.2.
    @Test func `The application can neither subscribe to the user's channel nor unsubscribe from it`() throws {
        var transcript = try signedIn()
        #expect(transcript.unsubscribe(channel).isEmpty)
        #expect(transcript.machine.subscriptions[channel] != nil)
        var unchecked = Transcript.connected { $0.limits = .unchecked }
        #expect(unchecked.subscribe(channel).sent.isEmpty)
        #expect(unchecked.machine.subscriptions[channel] == nil)
    }

    // Proves P9.6.
    @Test(arguments: [("ann", 1), ("bob", 0)])
    func `A possible gap in the user's events is reported, but not to another user`(next: String, gaps: Int) throws {
        var transcript = try signedIn()
        transcript.succeed(channel)
        transcript.pass(.seconds(10))
        try transcript.authorizeUser(transcript.restart())
        let outputs =
            transcript.receive(#"{"event":"pusher:signin_success","data":{"user_data":"{\"id\":\"\#(next)\"}"}}"#)
            + transcript.succeed(Name("#server-to-user-\(next)"))
        #expect(outputs.gaps.count == gaps)
    }

    // Proves P9.6.
    @Test func `A gap in the user's events is reported even if the user's channel isn't confirmed again`() throws {
        var transcript = try signedIn()
        transcript.pass(.seconds(10))
        transcript.receive(note)
        try transcript.authorizeUser(transcript.restart())
        #expect(transcript.receive(.signInSuccess).deliveries.contains(.gap(channel: channel, since: .seconds(10))))
        #expect(transcript.succeed(channel).gaps.isEmpty)
    }

    // MARK: Failures

    // Proves P9.5.
    @Test func `A refused authorization of the user ends the sign-in but not the connection`() throws {
        var transcript = Transcript.subscribing(to: "room")
        let attempt = try #require(transcript.play(.signIn).userAttempt)
        let outputs = transcript.play(.userAuthorized(attempt, .failure(AuthorizationFailure(message: "no", status: 403))))
        #expect(outputs.signInFailures == [PusherError(.authorization, code: 403, message: "no")])
        #expect(transcript.machine.state == .connected)
        #expect(transcript.play(.signIn).userAttempt != nil, "it can be asked for again")
    }

    // Proves P9.5.
    @Test func `A user's authorization not answered within 15 seconds times out, and its answer is ignored`() throws {
        var transcript = Transcript.connected()
        let asked = transcript.play(.signIn)
        let attempt = try #require(asked.userAttempt)
        let outputs = transcript.pass(.seconds(15))
        #expect(outputs.contains(.command(.cancelUserAuthorization(attempt, unansweredFor: .seconds(15)))))
        #expect(outputs.signInFailures.map(\.kind) == [.timedOut])
        #expect(try transcript.authorizeUser(asked).sent.isEmpty, "its answer is stale")
    }

    // Proves P9.5.
    @Test func `A sign-in that the server doesn't answer within 30 seconds times out, but a later success counts`() throws {
        var transcript = try signingIn()
        #expect(transcript.pass(.seconds(30)).signInFailures.map(\.kind) == [.timedOut])
        transcript.receive(.signInSuccess)
        #expect(transcript.machine.user.id == "ann")
    }

    // Proves P9.4, P9.8.
    @Test(arguments: [(4009, true), (4200, true), (nil, true), (4301, false), (4302, false)] as [(Int?, Bool)])
    func `An error that may be about the sign-in ends it, unless a success follows`(code: Int?, isAboutIt: Bool) throws {
        var transcript = try signingIn()
        let outputs = transcript.receiveError("no", code: code)
        #expect(outputs.signInFailures == (isAboutIt ? [PusherError(.server, code: code, message: "no")] : []))
        #expect(transcript.machine.state == .connected)
        #expect(transcript.receive(.signInSuccess).deliveries.contains(.signedIn(userID: "ann")))
        #expect(transcript.machine.user.id == "ann")
    }

    // Proves P9.4, P14.10.
    @Test(arguments: [false, true])
    func `If a sign-in succeeds after an error, the error was the refusal of the pending channel`(isAskedAgain: Bool) throws {
        var transcript = try signingIn()
        transcript.subscribe("private-room", auth: .signed)
        transcript.receiveError(code: 4009)
        // The success may belong to the second attempt, in which case the first was refused.
        if isAskedAgain { try transcript.authorizeUser(transcript.play(.signIn)) }
        #expect(transcript.receive(.signInSuccess).failures.map(\.code) == (isAskedAgain ? [] : [4009]))
    }

    // Proves P9.4.
    @Test func `A success of an earlier sign-in counts and cancels the authorization of the next try`() throws {
        var transcript = try signingIn()
        transcript.receiveError(code: 4009)
        let again = transcript.play(.signIn)
        let outputs = transcript.receive(.signInSuccess)
        #expect(outputs.contains(.command(.cancelUserAuthorization(try #require(again.userAttempt)))))
        #expect(outputs.deliveries.contains(.signedIn(userID: "ann")))
        #expect(try transcript.authorizeUser(again).sent.isEmpty)
    }

    @Test func `A success that no sign-in on the connection asked for is ignored`() throws {
        var transcript = Transcript.connected()
        transcript.receive(.signInSuccess)
        #expect(transcript.machine.user.id == nil)
        let attempt = try #require(transcript.play(.signIn).userAttempt)
        transcript.play(.userAuthorized(attempt, .failure(AuthorizationFailure(message: "no", status: 403))))
        transcript.receive(.signInSuccess)
        #expect(transcript.machine.user.id == nil)
        transcript = try signingIn()
        transcript.restart()
        transcript.receive(.signInSuccess)
        #expect(transcript.machine.user.id == nil, "nor does an earlier connection's")
    }

    // MARK: Disconnecting

    @Test func `Disconnecting a client whose user was signed in reports no failed sign-in`() throws {
        var transcript = try signedIn()
        transcript.play(.disconnect)
        #expect(transcript.close(1000).signInFailures.isEmpty)
        transcript.play(.connect)
        #expect(transcript.establish().userAttempt != nil, "the wish remains")
        transcript.play(.disconnect)
        #expect(transcript.close(1000).signInFailures.isEmpty, "nor in the middle of signing in again")
    }

    @Test func `Disconnecting or releasing the client fails a pending sign-in once, and connecting tries it again`() throws {
        var transcript = try signingIn()
        #expect(transcript.play(.signIn).isEmpty, "it is pending")
        var released = transcript
        #expect(released.play(.clientReleased).signInFailures.map(\.kind) == [.transport(.cancelled)])
        #expect(released.close(1000).signInFailures.isEmpty, "once")
        transcript.play(.disconnect)
        #expect(transcript.close(1000).signInFailures.map(\.kind) == [.transport(.cancelled)])
        #expect(transcript.machine.nextDeadline == nil)
        transcript.play(.connect)
        #expect(transcript.establish().userAttempt != nil, "the wish remains")
    }

    @Test func `A sign-in pending or requested when the client has given up fails with the same error`() {
        var transcript = Transcript()
        transcript.play(.connect)
        var pending = transcript
        pending.play(.signIn)
        #expect(pending.close(4001).signInFailures.map(\.code) == [4001])
        transcript.close(4001)
        for _ in 0..<2 { #expect(transcript.play(.signIn).signInFailures.map(\.code) == [4001]) }
        transcript.play(.disconnect)
        #expect(transcript.play(.signIn).signInFailures.map(\.code) == [4001], "it is disconnected already")
        transcript.play(.connect)
        #expect(transcript.establish().userAttempt != nil, "the wish remains")
    }

    @Test func `A sign-in outlives a lost connection, and fails if the client disconnects meanwhile`() throws {
        var transcript = try signingIn()
        #expect(transcript.close(4200).signInFailures.isEmpty)
        #expect(transcript.establish().userAttempt != nil, "it is tried again")
        transcript = try signedIn()
        transcript.close(1006)
        #expect(transcript.play(.signIn).isEmpty)
        #expect(transcript.play(.disconnect).signInFailures.map(\.kind) == [.transport(.cancelled)])
    }

    // MARK: The watchlist

    // Proves P9.7.
    @Test func `Watchlist events report which users are online and offline`() throws {
        var transcript = try signedIn()
        let data = #"{"events":[{"name":"online","user_ids":["1",2]},{"name":"offline","user_ids":["3"]}]}"#
        for form in [data, data.quotedJSON] {
            let outputs = transcript.receive(#"{"event":"pusher_internal:watchlist_events","data":\#(form)}"#)
            let events = [WatchlistEvent(name: "online", userIDs: ["1", "2"]), WatchlistEvent(name: "offline", userIDs: ["3"])]
            #expect(outputs.deliveries == events.map { .watchlist($0) })
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

extension String {
    /// The server's answer to the sign-in of `Transcript.authorizeUser`.
    static let signInSuccess = #"{"event":"pusher:signin_success","data":{"user_data":"{\"id\":\"ann\"}"}}"#
}

extension Transcript {
    /// Gives the authorization that these outputs request for the user.
    @discardableResult
    mutating func authorizeUser(_ outputs: [Output]) throws -> [Output] {
        let auth = PusherUserAuth(auth: "k:s", userData: #"{"id":"ann"}"#)
        return play(.userAuthorized(try #require(outputs.userAttempt), .success(auth)))
    }
}
