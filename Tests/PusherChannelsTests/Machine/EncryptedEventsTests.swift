import Testing

@testable import PusherChannels

@Suite struct EncryptedEventsTests {
    private let channel: Name = "private-encrypted-a"

    private func auth(_ key: String?) -> PusherAuth { PusherAuth(auth: "k:s", sharedSecret: key) }

    private func subscribed(_ change: (inout ConnectionMachine.Configuration) -> Void = { _ in }) -> Transcript {
        .subscribed(to: channel, auth: auth("old"), change)
    }

    private func event(_ name: String, on channel: String = "private-encrypted-a") -> String {
        #"{"event":"\#(name)","channel":"\#(channel)","data":"sealed-\#(name)"}"#
    }

    /// Replies to each decryption with the result of `open` until none is left.
    private func reply(
        _ transcript: inout Transcript, _ outputs: [Output],
        open: (String, SharedSecret) -> Result<String, ConnectionMachine.DecryptionFailure>
    ) -> [Output] {
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

    /// Returns a decryption that succeeds only with this key.
    private func opened(
        with key: String, except broken: String = ""
    ) -> (String, SharedSecret) -> Result<String, ConnectionMachine.DecryptionFailure> {
        { data, secret in
            secret.base64 == key && data != broken ? .success("open " + data) : .failure(.wrongKey)
        }
    }

    /// A channel whose key doesn't fit the event "a", so that another one is asked for.
    private func refreshing() throws -> (Transcript, SubscriptionAttempt) {
        var transcript = subscribed()
        let asked = reply(&transcript, transcript.receive(event("a")), open: opened(with: "new"))
        #expect(asked.deliveries.isEmpty)
        return (transcript, try #require(asked.authorizations.first))
    }

    @Test func `Undecrypted events that outlast a pause of reading request no other until caught up`() {
        var transcript = subscribed { $0.encryptedEventByteLimit = 2_000 }
        func fall(_ transcript: inout Transcript) -> [Output] {
            let opening = transcript.receive(event("first"))
            for _ in 0..<20 { transcript.receive(event("more")) }
            return opening
        }
        let opening = fall(&transcript)
        #expect(transcript.machine.isOverWithDecrypting)
        transcript.play(.readersChanged(areOver: true))
        transcript.pass(transcript.machine.configuration.pauseLimit)
        transcript.receive(event("more"))
        #expect(!transcript.machine.isOverWithDecrypting, "otherwise no other reader would be waited for either")
        _ = reply(&transcript, opening, open: opened(with: "old"))
        _ = fall(&transcript)
        #expect(transcript.machine.isOverWithDecrypting)
    }

    @Test func `Encrypted events that wait for a key don't request a pause of reading`() {
        var transcript = subscribed { $0.encryptedEventByteLimit = 2_000 }
        _ = reply(&transcript, transcript.receive(event("first")), open: opened(with: "new"))
        for _ in 0..<10 { transcript.receive(event("more")) }
        #expect(!transcript.machine.isOverWithDecrypting)
    }

    @Test(arguments: [true, false]) func `Once a key has come or was refused, a backlog of encrypted events requests a pause`(
        comes: Bool
    ) throws {
        var transcript = subscribed { $0.encryptedEventByteLimit = 2_000 }
        let outputs = reply(&transcript, transcript.receive(event("first")), open: opened(with: "new"))
        for _ in 0..<18 { transcript.receive(event("more")) }
        let attempt = try #require(outputs.authorizations.last)
        let opening = transcript.play(
            .authorized(attempt, comes ? .success(auth("new")) : .failure(AuthorizationFailure(message: "no"))))
        #expect(transcript.machine.isOverWithDecrypting)
        _ = reply(&transcript, opening, open: opened(with: "new"))
        #expect(!transcript.machine.isOverWithDecrypting)
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
        let outputs = transcript.play(.subscribe(channel: channel, auth: auth("old")))
        #expect(outputs == [.command(.send(.subscribe(channel: channel.text, auth: "k:s", channelData: nil)))])
    }

    // Proves P10.5, P10.6, P10.7.
    @Test func `If a key doesn't fit, a new one is fetched while the channel's later events wait in order`() throws {
        var (transcript, refresh) = try refreshing()
        for name in ["b", "c"] { #expect(transcript.receive(event(name)).isEmpty, "it waits its turn") }
        transcript.play(.subscribe(channel: "news", auth: nil))
        transcript.succeed("news")
        #expect(transcript.receive(event("other", on: "news")).events == ["other"], "other channels don't wait")
        let outputs = reply(
            &transcript, transcript.play(.authorized(refresh, .success(auth("new")))), open: opened(with: "new"))
        #expect(data(outputs) == ["open sealed-a", "open sealed-b", "open sealed-c"])
        #expect(outputs.sent.isEmpty, "the channel is subscribed to already")
    }

    /// If any of these events are lost, they came after that time.
    @Test func `Waiting encrypted events are dated after the last frame that came before them`() {
        var transcript = subscribed()
        transcript.pass(.seconds(30))
        transcript.receive(#"{"event":"pusher:pong"}"#)
        let heard = transcript.now
        transcript.pass(.seconds(30))
        transcript.receive(event("a"))
        transcript.receive(event("b"))
        #expect(transcript.machine.subscriptions[channel]?.encryptedEvents?.since == heard)
    }

    /// A pool may move the channel while an event is being decrypted.
    // Proves P10.6.
    @Test func `An event under decryption moves with its channel and is decrypted on the new connection`() throws {
        var first = subscribed()
        let asked = first.receive(event("a"))
        first.receive(event("b"))
        let handedOver = try #require(first.machine.stateToMove(of: channel, at: first.now))
        first.play(.unsubscribe(channel: channel))
        #expect(reply(&first, asked, open: opened(with: "old")).deliveries.isEmpty)
        var second = Transcript.connected()
        let authorization = try #require(second.play(.adopt(handedOver)).authorizations.first)
        let outputs = reply(
            &second, second.play(.authorized(authorization, .success(auth("old")))), open: opened(with: "old"))
        #expect(data(outputs) == ["open sealed-a", "open sealed-b"])
    }

    // Proves P10.8.
    @Test func `An event that the new key doesn't decrypt either is reported, and later ones are delivered`() throws {
        var transcript = subscribed()
        let asked = reply(&transcript, transcript.receive(event("broken")), open: opened(with: "old", except: "sealed-broken"))
        transcript.receive(event("b"))
        let refresh = try #require(asked.authorizations.first)
        let outputs = reply(
            &transcript, transcript.play(.authorized(refresh, .success(auth("old")))),
            open: opened(with: "old", except: "sealed-broken"))
        #expect(undecryptable(outputs) == ["broken"])
        #expect(data(outputs) == ["open sealed-b"])
    }

    @Test func `After a new key that doesn't fit, no other is fetched for ten seconds`() throws {
        var transcript = subscribed()
        var requests = 0
        for _ in 0..<100 {
            var outputs = reply(&transcript, transcript.receive(event("x")), open: opened(with: "none"))
            for attempt in outputs.authorizations {
                requests += 1
                outputs += reply(
                    &transcript, transcript.play(.authorized(attempt, .success(auth("old")))), open: opened(with: "none"))
            }
            transcript.pass(.milliseconds(100))
        }
        #expect(requests == 1, "a flood of broken events is no flood of requests")
        #expect(reply(&transcript, transcript.receive(event("x")), open: opened(with: "none")).authorizations.count == 1)
    }

    @Test func `No new key is requested before the endpoint's Retry-After has passed`() throws {
        var transcript = subscribed()
        let asked = reply(&transcript, transcript.receive(event("a")), open: opened(with: "none"))
        let refresh = try #require(asked.authorizations.first)
        let busy = AuthorizationFailure(message: "no", status: 503, isRetryable: true, retryAfter: .seconds(20))
        transcript.play(.authorized(refresh, .failure(busy)))
        transcript.pass(.milliseconds(19_999))
        #expect(reply(&transcript, transcript.receive(event("b")), open: opened(with: "none")).authorizations.isEmpty)
        transcript.pass(.milliseconds(1))
        #expect(reply(&transcript, transcript.receive(event("c")), open: opened(with: "none")).authorizations.count == 1)
    }

    // Proves P10.9.
    @Test func `An event with malformed encrypted data is reported without fetching a key`() {
        var transcript = subscribed()
        let outputs = reply(&transcript, transcript.receive(event("a"))) { _, _ in .failure(.malformed("no nonce")) }
        #expect(undecryptable(outputs) == ["a"])
        #expect(outputs.authorizations.isEmpty)
    }

    @Test(arguments: [403, nil]) func `Without a new key, waiting events are reported as undecryptable and the channel stays`(
        status: Int?
    ) throws {
        var (transcript, refresh) = try refreshing()
        transcript.receive(event("b"))
        let replied =
            status.map { transcript.play(.authorized(refresh, .failure(AuthorizationFailure(message: "no", status: $0)))) }
            ?? transcript.pass(.seconds(15))
        let outputs = reply(&transcript, replied, open: opened(with: "new"))
        #expect(undecryptable(outputs) == ["a", "b"])
        #expect(transcript.machine.subscriptions[channel]?.isSubscribed == true)
    }

    @Test func `Encrypted events waiting when the connection is lost are decrypted with the next key`() throws {
        var (transcript, refresh) = try refreshing()
        transcript.receive(event("b"))
        #expect(transcript.close(4200).contains(.command(.cancelAuthorization(refresh))))
        let again = try #require(transcript.establish().authorizations.first)
        let outputs = reply(
            &transcript, transcript.play(.authorized(again, .success(auth("new")))), open: opened(with: "new"))
        #expect(data(outputs) == ["open sealed-a", "open sealed-b"])
    }

    // Proves P10.5, P10.8.
    @Test(arguments: [false, true]) func `A key that doesn't fit before the subscription succeeds is fetched once more after it`(
        isLate: Bool
    ) throws {
        let open: (String, SharedSecret) -> Result<String, ConnectionMachine.DecryptionFailure> = { data, secret in
            (secret.base64 == "old") == (data == "sealed-b") ? .success("open " + data) : .failure(.wrongKey)
        }
        var transcript = subscribed()
        _ = reply(&transcript, transcript.receive(event("a")), open: open)
        transcript.receive(event("b"))
        let again = try #require(transcript.restart().authorizations.first)
        _ = reply(&transcript, transcript.play(.authorized(again, .success(auth("new")))), open: open)
        if isLate { transcript.pass(.seconds(30)) }
        let refresh = try #require(transcript.succeed(channel).authorizations.first)
        #expect(transcript.receive(event("c")).isEmpty, "it waits its turn")
        let outputs = reply(&transcript, transcript.play(.authorized(refresh, .success(auth("new")))), open: open)
        #expect(undecryptable(outputs) == ["b"])
        #expect(data(outputs) == ["open sealed-c"])
    }

    @Test func `A refusal of the channel cancels its key request, and the next subscription brings the key`() throws {
        var (transcript, refresh) = try refreshing()
        let error = #"{"event":"pusher_internal:subscription_error","channel":"\#(channel)","data":"{\"status\":403}"}"#
        #expect(transcript.receive(error).contains(.command(.cancelAuthorization(refresh))))
        // The next subscription also brings the key for the waiting events.
        let outputs = reply(
            &transcript, transcript.play(.subscribe(channel: channel, auth: auth("new"))), open: opened(with: "new"))
        #expect(data(outputs) == ["open sealed-a"])
    }

    /// A shutdown is orderly: events that came before it are delivered. A second subscription or shutdown doesn't change that.
    @Test(arguments: [false, true]) func `Encrypted events read before a shutdown are delivered, whatever is requested after it`(
        isAskedAgain: Bool
    ) {
        var transcript = subscribed()
        let outputs = transcript.receive(event("a")) + transcript.receive(event("b"))
        transcript.play(.shutDown)
        if isAskedAgain {
            transcript.play(.subscribe(channel: channel, auth: nil))
            transcript.play(.shutDown)
        }
        #expect(data(reply(&transcript, outputs, open: opened(with: "old"))) == ["open sealed-a", "open sealed-b"])
        #expect(transcript.machine.decryption.lastEvents.isEmpty)
    }

    @Test func `After a shutdown, an encrypted event that would need a new key is reported instead`() {
        var transcript = subscribed()
        let outputs = transcript.receive(event("a"))
        transcript.play(.shutDown)
        #expect(undecryptable(reply(&transcript, outputs, open: opened(with: "new"))) == ["a"])
        transcript = subscribed()
        _ = reply(&transcript, transcript.receive(event("a")), open: opened(with: "new"))
        transcript.receive(event("b"))
        let shutDown = reply(&transcript, transcript.play(.shutDown), open: opened(with: "old"))
        #expect(undecryptable(shutDown) == ["a"])
        #expect(data(shutDown) == ["open sealed-b"])
    }

    @Test func `The decryption result of an earlier subscription is dropped`() throws {
        var transcript = subscribed()
        let outputs = transcript.receive(event("a"))
        transcript.play(.unsubscribe(channel: channel))
        transcript.play(.subscribe(channel: channel, auth: auth("old")))
        transcript.receive(#"{"event":"pusher_internal:subscription_succeeded","channel":"\#(channel)","data":"{}"}"#)
        _ = transcript.receive(event("b"))
        #expect(reply(&transcript, outputs, open: opened(with: "old")).deliveries.isEmpty)
    }

    @Test func `Encrypted events that wait for a key are limited in number, and later ones are reported`() throws {
        var transcript = subscribed { $0.encryptedEventLimit = 2 }
        _ = reply(&transcript, transcript.receive(event("a")), open: opened(with: "new"))
        for name in ["b", "c"] { #expect(transcript.receive(event(name)).isEmpty) }
        #expect(undecryptable(transcript.receive(event("d"))) == ["d"])
    }

    /// This occurs if another thread is busy with something else.
    @Test func `Encrypted events that only wait for decryption are not limited in number`() {
        var transcript = subscribed { $0.encryptedEventLimit = 2 }
        var outputs: [Output] = []
        for name in ["a", "b", "c", "d"] { outputs += transcript.receive(event(name)) }
        #expect(data(reply(&transcript, outputs, open: opened(with: "old"))).count == 4)
    }

    // Proves P10.4, P11.4.
    @Test func `A protocol event on an encrypted channel is delivered without decryption`() {
        var transcript = subscribed()
        #expect(transcript.receive(#"{"event":"pusher:cache_miss","channel":"\#(channel)"}"#).events == ["pusher:cache_miss"])
    }

    @Test func `Decrypted events no longer count toward the byte limit of encrypted ones`() {
        var transcript = subscribed { $0.encryptedEventByteLimit = 2 * event("a").utf8.count }
        for _ in 0..<3 {
            var outputs: [Output] = []
            for name in ["a", "b", "c"] { outputs += transcript.receive(event(name)) }
            outputs = reply(&transcript, outputs, open: opened(with: "old"))
            #expect(data(outputs) == ["open sealed-a", "open sealed-b", "open sealed-c"])
        }
    }
}
