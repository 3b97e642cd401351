import Testing

@testable import PusherChannels

@Suite struct EncryptedEventsTests {
    private typealias Opening = (String, SharedSecret) -> Result<String, ConnectionMachine.DecryptionFailure>

    private let channel: Name = "private-encrypted-a"

    private func auth(_ key: String?) -> PusherAuth { PusherAuth(auth: "k:s", sharedSecret: key) }

    private func subscribed(_ change: (inout ConnectionMachine.Configuration) -> Void = { _ in }) -> Transcript {
        .subscribed(to: channel, auth: auth("old"), change)
    }

    private func event(_ name: String, on channel: String = "private-encrypted-a") -> String {
        #"{"event":"\#(name)","channel":"\#(channel)","data":"sealed-\#(name)"}"#
    }

    /// Replies to each decryption with the result of `open` until none is left.
    private func reply(_ transcript: inout Transcript, _ outputs: [Output], open: Opening) -> [Output] {
        var all = outputs
        var index = 0
        while index < all.count {
            if case .command(.decrypt(let event, let secret)) = all[index] {
                all += transcript.play(.opened(event, open(event.data ?? "", secret)))
            }
            index += 1
        }
        return all
    }

    /// Replies to each decryption, which succeeds only with this key.
    @discardableResult
    private func reply(
        _ transcript: inout Transcript, _ outputs: [Output], opening key: String, except broken: String = ""
    ) -> [Output] {
        reply(&transcript, outputs) { data, secret in
            secret.base64 == key && data != broken ? .success("open " + data) : .failure(.wrongKey)
        }
    }

    @discardableResult
    private func receive(_ name: String, opening key: String, _ transcript: inout Transcript) -> [Output] {
        reply(&transcript, transcript.receive(event(name)), opening: key)
    }

    /// Gives the authorization with a new key, if it is that; returns what follows.
    private func refresh(
        _ attempt: SubscriptionAttempt, with key: String, opening opened: String, _ transcript: inout Transcript
    ) -> [Output] {
        reply(&transcript, transcript.authorize(attempt, auth(key)), opening: opened)
    }

    /// A channel whose key doesn't fit the event "a", so that another one is asked for.
    private func refreshing(
        _ change: (inout ConnectionMachine.Configuration) -> Void = { _ in }
    ) throws -> (Transcript, SubscriptionAttempt) {
        var transcript = subscribed(change)
        let asked = receive("a", opening: "new", &transcript)
        #expect(asked.deliveries.isEmpty)
        return (transcript, try #require(asked.authorizations.first))
    }

    private func data(_ outputs: [Output]) -> [String] {
        outputs.deliveries.compactMap { if case .event(let envelope) = $0 { envelope.data } else { nil } }
    }

    private func undecryptable(_ outputs: [Output]) -> [String] {
        outputs.deliveries.compactMap { if case .decryptionFailed(_, let event, _, _) = $0 { event.text } else { nil } }
    }

    // Proves P10.2.
    @Test func `The shared secret of an encrypted channel is not sent to the server`() {
        var transcript = Transcript.connected()
        #expect(transcript.subscribe(channel, auth: auth("old")) == [.send(.subscription(to: channel, auth: "k:s"))])
    }

    // Proves P10.4, P11.4.
    @Test func `A protocol event on an encrypted channel is delivered without decryption`() {
        var transcript = subscribed()
        #expect(transcript.receive(#"{"event":"pusher:cache_miss","channel":"\#(channel)"}"#).events == ["pusher:cache_miss"])
    }

    // Proves P10.9.
    @Test func `An event with malformed encrypted data is reported without fetching a key`() {
        var transcript = subscribed()
        let outputs = reply(&transcript, transcript.receive(event("a"))) { _, _ in .failure(.malformed("no nonce")) }
        #expect(undecryptable(outputs) == ["a"])
        #expect(outputs.authorizations.isEmpty)
    }

    @Test func `The decryption result of an earlier subscription is dropped`() {
        var transcript = subscribed()
        let outputs = transcript.receive(event("a"))
        transcript.unsubscribe(channel)
        transcript.subscribe(channel, auth: auth("old"))
        transcript.succeed(channel)
        transcript.receive(event("b"))
        #expect(reply(&transcript, outputs, opening: "old").deliveries.isEmpty)
    }

    // MARK: A new key

    // Proves P10.5, P10.6, P10.7.
    @Test func `If a key doesn't fit, a new one is fetched while the channel's later events wait in order`() throws {
        var (transcript, asked) = try refreshing()
        for name in ["b", "c"] { #expect(transcript.receive(event(name)).isEmpty, "it waits its turn") }
        transcript.subscribe("news")
        transcript.succeed("news")
        #expect(transcript.receive(event("other", on: "news")).events == ["other"], "other channels don't wait")
        let outputs = refresh(asked, with: "new", opening: "new", &transcript)
        #expect(data(outputs) == ["open sealed-a", "open sealed-b", "open sealed-c"])
        #expect(outputs.sent.isEmpty, "the channel is subscribed to already")
    }

    // Proves P10.8.
    @Test func `An event that the new key doesn't decrypt either is reported, and later ones are delivered`() throws {
        var transcript = subscribed()
        let asked = reply(&transcript, transcript.receive(event("broken")), opening: "old", except: "sealed-broken")
        transcript.receive(event("b"))
        let again = transcript.authorize(try #require(asked.authorizations.first), auth("old"))
        let outputs = reply(&transcript, again, opening: "old", except: "sealed-broken")
        #expect(undecryptable(outputs) == ["broken"])
        #expect(data(outputs) == ["open sealed-b"])
    }

    @Test func `After a new key that doesn't fit, no other is fetched for ten seconds`() {
        var transcript = subscribed()
        var requests = 0
        for _ in 0..<100 {
            for attempt in receive("x", opening: "none", &transcript).authorizations {
                requests += 1
                _ = refresh(attempt, with: "old", opening: "none", &transcript)
            }
            transcript.pass(.milliseconds(100))
        }
        #expect(requests == 1, "a flood of broken events is no flood of requests")
        #expect(receive("x", opening: "none", &transcript).authorizations.count == 1)
    }

    @Test func `No new key is requested before the endpoint's Retry-After has passed`() throws {
        var (transcript, asked) = try refreshing()
        let busy = AuthorizationFailure(message: "no", status: 503, isRetryable: true, retryAfter: .seconds(20))
        transcript.play(.authorized(asked, .failure(busy)))
        transcript.pass(.milliseconds(19_999))
        #expect(receive("b", opening: "none", &transcript).authorizations.isEmpty)
        transcript.pass(.milliseconds(1))
        #expect(receive("c", opening: "none", &transcript).authorizations.count == 1)
    }

    @Test(arguments: [403, nil])
    func `Without a new key, waiting events are reported as undecryptable and the channel stays`(status: Int?) throws {
        var (transcript, asked) = try refreshing()
        transcript.receive(event("b"))
        let replied =
            status.map { transcript.play(.authorized(asked, .failure(AuthorizationFailure(message: "no", status: $0)))) }
            ?? transcript.pass(.seconds(15))
        #expect(undecryptable(reply(&transcript, replied, opening: "new")) == ["a", "b"])
        #expect(transcript.machine.subscriptions[channel]?.isSubscribed == true)
    }

    @Test func `Encrypted events waiting when the connection is lost are decrypted with the next key`() throws {
        var (transcript, asked) = try refreshing()
        transcript.receive(event("b"))
        #expect(transcript.close(4200).contains(.command(.cancelAuthorization(asked))))
        let again = try #require(transcript.establish().authorizations.first)
        #expect(data(refresh(again, with: "new", opening: "new", &transcript)) == ["open sealed-a", "open sealed-b"])
    }

    // Proves P10.5, P10.8.
    @Test(arguments: [false, true])
    func `A key that doesn't fit before the subscription succeeds is fetched once more after it`(isLate: Bool) throws {
        let open: Opening = { data, secret in
            (secret.base64 == "old") == (data == "sealed-b") ? .success("open " + data) : .failure(.wrongKey)
        }
        var transcript = subscribed()
        _ = reply(&transcript, transcript.receive(event("a")), open: open)
        transcript.receive(event("b"))
        let again = try #require(transcript.restart().authorizations.first)
        _ = reply(&transcript, transcript.authorize(again, auth("new")), open: open)
        if isLate { transcript.pass(.seconds(30)) }
        let refresh = try #require(transcript.succeed(channel).authorizations.first)
        #expect(transcript.receive(event("c")).isEmpty, "it waits its turn")
        let outputs = reply(&transcript, transcript.authorize(refresh, auth("new")), open: open)
        #expect(undecryptable(outputs) == ["b"])
        #expect(data(outputs) == ["open sealed-c"])
    }

    @Test func `A refusal of the channel cancels its key request, and the next subscription brings the key`() throws {
        var (transcript, asked) = try refreshing()
        #expect(transcript.receiveRefusal(of: channel).contains(.command(.cancelAuthorization(asked))))
        let outputs = reply(&transcript, transcript.subscribe(channel, auth: auth("new")), opening: "new")
        #expect(data(outputs) == ["open sealed-a"])
    }

    // MARK: A move and a shutdown

    /// A pool may move the channel while an event is being decrypted.
    // Proves P10.6.
    @Test func `An event under decryption moves with its channel and is decrypted on the new connection`() throws {
        var first = subscribed()
        let asked = first.receive(event("a"))
        first.receive(event("b"))
        let handedOver = try #require(first.machine.stateToMove(of: channel, at: first.now))
        first.unsubscribe(channel)
        #expect(reply(&first, asked, opening: "old").deliveries.isEmpty)
        var second = Transcript.connected()
        let authorization = try #require(second.play(.adopt(handedOver)).authorizations.first)
        #expect(data(refresh(authorization, with: "old", opening: "old", &second)) == ["open sealed-a", "open sealed-b"])
    }

    /// A shutdown is orderly: events that came before it are delivered. A second subscription or shutdown doesn't change that.
    @Test(arguments: [false, true])
    func `Encrypted events read before a shutdown are delivered, whatever is requested after it`(isAskedAgain: Bool) {
        var transcript = subscribed()
        let outputs = transcript.receive(event("a")) + transcript.receive(event("b"))
        transcript.play(.shutDown)
        if isAskedAgain { _ = (transcript.subscribe(channel), transcript.play(.shutDown)) }
        #expect(data(reply(&transcript, outputs, opening: "old")) == ["open sealed-a", "open sealed-b"])
        #expect(transcript.machine.decryption.lastEvents.isEmpty)
    }

    @Test func `After a shutdown, an encrypted event that would need a new key is reported instead`() throws {
        var transcript = subscribed()
        let outputs = transcript.receive(event("a"))
        transcript.play(.shutDown)
        #expect(undecryptable(reply(&transcript, outputs, opening: "new")) == ["a"])
        var (waiting, _) = try refreshing()
        waiting.receive(event("b"))
        let shutDown = reply(&waiting, waiting.play(.shutDown), opening: "old")
        #expect(undecryptable(shutDown) == ["a"])
        #expect(data(shutDown) == ["open sealed-b"])
    }

    // MARK: Limits

    /// If any of these events are lost, they came after that time.
    @Test func `Waiting encrypted events are dated after the last frame that came before them`() {
        var transcript = subscribed()
        transcript.pass(.seconds(30))
        transcript.receive(#"{"event":"pusher:pong"}"#)
        let heard = transcript.now
        transcript.pass(.seconds(30))
        for name in ["a", "b"] { transcript.receive(event(name)) }
        #expect(transcript.machine.subscriptions[channel]?.encryptedEvents?.since == heard)
    }

    @Test func `Undecrypted events that outlast a pause of reading request no other until caught up`() {
        var transcript = subscribed { $0.encryptedEventByteLimit = 2_000 }
        func fall() -> [Output] {
            let opening = transcript.receive(event("first"))
            for _ in 0..<20 { transcript.receive(event("more")) }
            return opening
        }
        let opening = fall()
        #expect(transcript.machine.isOverWithDecrypting)
        transcript.play(.readersChanged(areOver: true))
        transcript.pass(transcript.machine.configuration.pauseLimit)
        transcript.receive(event("more"))
        #expect(!transcript.machine.isOverWithDecrypting, "otherwise no other reader would be waited for either")
        reply(&transcript, opening, opening: "old")
        _ = fall()
        #expect(transcript.machine.isOverWithDecrypting)
    }

    @Test(arguments: [true, false])
    func `A backlog of encrypted events requests a pause once a key has come or was refused, but not before`(comes: Bool) throws {
        var (transcript, asked) = try refreshing { $0.encryptedEventByteLimit = 2_000 }
        for _ in 0..<18 {
            transcript.receive(event("more"))
            #expect(!transcript.machine.isOverWithDecrypting)
        }
        let opening = transcript.play(
            .authorized(asked, comes ? .success(auth("new")) : .failure(AuthorizationFailure(message: "no"))))
        #expect(transcript.machine.isOverWithDecrypting)
        reply(&transcript, opening, opening: "new")
        #expect(!transcript.machine.isOverWithDecrypting)
    }

    @Test func `Encrypted events that wait for a key are limited in number, and later ones are reported`() throws {
        var (transcript, _) = try refreshing { $0.encryptedEventLimit = 2 }
        for name in ["b", "c"] { #expect(transcript.receive(event(name)).isEmpty) }
        #expect(undecryptable(transcript.receive(event("d"))) == ["d"])
    }

    /// Another thread may be busy with something else. Events that were decrypted don't count toward the limit of bytes, either.
    @Test func `Encrypted events that only wait for decryption are not limited in number, but in bytes`() {
        var transcript = subscribed { ($0.encryptedEventLimit, $0.encryptedEventByteLimit) = (2, 3 * event("a").utf8.count) }
        let names = ["a", "b", "c", "d"]
        for _ in 0..<3 {
            let outputs = names.flatMap { transcript.receive(event($0)) }
            #expect(data(reply(&transcript, outputs, opening: "old")) == names.map { "open sealed-\($0)" })
        }
        let flood = (0..<20).flatMap { _ in transcript.receive(event("e")) }
        #expect(undecryptable(flood).last == "e", "there is no room for its bytes")
    }
}
