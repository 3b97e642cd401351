import Foundation
import TestSupport
import Testing

@testable import PusherChannels

@Suite struct PusherWebhookTests {
    private static let time = Date(timeIntervalSince1970: 1_700_000_000)
    private static let occupied = #"{"time_ms":1700000000000,"events":[{"name":"channel_occupied","channel":"a"}]}"#
    /// `python3 -c 'import hashlib,hmac,sys; print(hmac.new(b"s3cret",sys.argv[1].encode(),hashlib.sha256).hexdigest())' BODY`
    private static let signature = "0aebb45162ff17f38610bcba74b60e746cc02ffe4a081e513f313e55d7365bca"

    private static func verifier(
        secrets: [String: String] = ["key": "s3cret"], keys: [EncryptionMasterKey] = [], tolerance: Duration? = .seconds(600),
        now: Date = time
    ) -> PusherWebhookVerifier {
        PusherWebhookVerifier(
            secrets: secrets, encryptionMasterKeys: keys, tolerance: tolerance, environment: PusherEnvironment(wallClock: { now })
        )
    }

    private static func verify(
        _ body: String, key: String = "key", secret: String = "s3cret", by verifier: PusherWebhookVerifier = Self.verifier()
    ) throws -> PusherWebhook {
        try verifier.verify(body: Data(body.utf8), key: key, signature: hmacSHA256(body, key: secret))
    }

    private func events(_ events: String, keys: [EncryptionMasterKey] = []) throws -> [PusherWebhook.Event] {
        try Self.verify(#"{"time_ms":1700000000000,"events":[\#(events)]}"#, by: Self.verifier(keys: keys)).events
    }

    // Proves P17.1.
    @Test func `A webhook with the right signature, by the secret of its own key, is read with its time and its events`() throws {
        let verifier = Self.verifier(secrets: ["old": "1", "key": "s3cret"])
        let webhook = try verifier.verify(body: Data(Self.occupied.utf8), key: "key", signature: Self.signature)
        #expect(webhook.time == Self.time)
        #expect(webhook.events == [.channelOccupied(channel: "a")])
        _ = try Self.verify(Self.occupied, key: "old", secret: "1", by: verifier)
        let marked = try Self.verify("\u{FEFF}" + Self.occupied)
        #expect(marked == webhook, "a byte order mark is skipped")
    }

    /// A secret may be empty because an environment variable isn't set; then anyone could sign.
    // Proves P17.1.
    @Test(arguments: ["key", ""]) func `A webhook signed with an empty secret is refused`(key: String) {
        #expect(throws: PusherWebhookError.unknownKey) {
            try Self.verify(Self.occupied, key: key, secret: "", by: Self.verifier(secrets: ["key": "", "": ""]))
        }
    }

    // Proves P17.2.
    @Test func `Each kind of webhook event is read, alone and together with others`() throws {
        func client(_ channel: String, _ data: String?, of user: String? = nil) -> PusherWebhook.Event {
            let (name, socket) = ("client-x", "1.2")
            return .clientEvent(
                PusherWebhook.ClientEvent(channel: channel, eventName: name, data: data, socketID: socket, userID: user))
        }
        func sent(_ channel: String, _ data: String, _ more: String = "") -> String {
            #"{"name":"client_event","channel":"\#(channel)","event":"client-x","data":\#(data),"socket_id":"1.2"\#(more)}"#
        }
        let (room, long) = ("presence-a", "123456789012345678901.5")
        let fixtures: [(String, PusherWebhook.Event)] = [
            (#"{"name":"channel_occupied","channel":"a"}"#, .channelOccupied(channel: "a")),
            (#"{"name":"channel_vacated","channel":"a"}"#, .channelVacated(channel: "a")),
            (#"{"name":"member_added","channel":"presence-a","user_id":"u1"}"#, .memberAdded(channel: room, userID: "u1")),
            (#"{"name":"member_added","channel":"presence-a","user_id":7}"#, .memberAdded(channel: room, userID: "7")),
            (#"{"name":"member_added","channel":"presence-a","user_id":\#(long)}"#, .memberAdded(channel: room, userID: long)),
            (#"{"name":"member_removed","channel":"presence-a","user_id":"u1"}"#, .memberRemoved(channel: room, userID: "u1")),
            (sent(room, #""{\"a\":1}""#, #","user_id":"u1""#), client(room, #"{"a":1}"#, of: "u1")),
            (sent("private-a", #"{"a":1}"#), client("private-a", #"{"a":1}"#)),
            (sent("private-a", "null"), client("private-a", nil)),
            (#"{"name":"cache_miss","channel":"cache-a"}"#, .cacheMiss(channel: "cache-a")),
            (#"{"name":"subscription_count","channel":"a","subscription_count":1}"#, .subscriptionCount(channel: "a", count: 1)),
        ]
        for (json, event) in fixtures { #expect(try events(json) == [event]) }
        #expect(try events(fixtures.map(\.0).joined(separator: ",")) == fixtures.map(\.1))
        #expect(try events("") == [])
    }

    // Proves P17.3.
    @Test(arguments: [
        (#"{"channel":"a","name":"new_kind","x":1}"#, "new_kind"),
        (#"{ "name":"new_kind", "b":1.50, "a":18446744073709551616 }"#, "new_kind"),
        (#"{"channel":"a","name":"member_added"}"#, "member_added"),
        (#"{"channel":"a","name":"member_removed"}"#, "member_removed"),
        (#"{"channel":"a","name":"client_event"}"#, "client_event"),
        (#"{"channel":"a","name":"subscription_count","subscription_count":"many"}"#, "subscription_count"),
        (#"{"name":"channel_occupied"}"#, "channel_occupied"), (#"{"channel":"a"}"#, ""), ("7", ""), (#""x""#, ""), ("null", ""),
    ])
    func `A webhook event of an unknown kind, or without its members, is kept as its JSON`(json: String, name: String) throws {
        let events = try events(#"\#(json),{"name":"cache_miss","channel":"b"}"#)
        #expect(events == [.other(name: name, json: json), .cacheMiss(channel: "b")])
    }

    // Proves P17.1.
    @Test(
        arguments: [
            (nil, signature, PusherWebhookError.unsigned), ("key", nil, .unsigned), (nil, nil, .unsigned),
            ("other", signature, .unknownKey), ("", signature, .unknownKey), ("key", "", .wrongSignature),
            ("key", String(signature.dropLast()), .wrongSignature), ("key", signature + "0", .wrongSignature),
            ("key", signature.uppercased(), .wrongSignature), ("key2", signature, .wrongSignature),
        ] as [(String?, String?, PusherWebhookError)])
    func `A webhook with a wrong or no key or signature is refused`(key: String?, signature: String?, error: PusherWebhookError) {
        let verifier = Self.verifier(secrets: ["key": "s3cret", "key2": "other"])
        #expect(throws: error) { try verifier.verify(body: Data(Self.occupied.utf8), key: key, signature: signature) }
    }

    /// In a text, invalid bytes would be replaced, and all such bodies would have the same signature.
    // Proves P17.1.
    @Test func `A webhook is refused if any byte of its body differs from what was signed`() {
        let body = Array(Self.occupied.utf8)
        for index in body.indices {
            var other = body
            other[index] ^= 0x80
            #expect(throws: PusherWebhookError.wrongSignature) {
                try Self.verifier().verify(body: other, key: "key", signature: Self.signature)
            }
        }
        #expect(hmacSHA256([0xFF], key: "s3cret") != hmacSHA256([0xFE], key: "s3cret"))
    }

    // Proves P17.4.
    @Test(arguments: [(-601.0, false), (-600, true), (0, true), (600, true), (601, false), (.nan, false), (.infinity, false)])
    func `A webhook whose time is off by more than the tolerance is refused`(difference: TimeInterval, isFine: Bool) throws {
        let verifier = Self.verifier(now: Self.time.addingTimeInterval(difference))
        let verify = { try Self.verify(Self.occupied, by: verifier) }
        if isFine { _ = try verify() } else { #expect(throws: PusherWebhookError.outOfTime) { try verify() } }
        _ = try Self.verify(Self.occupied, by: Self.verifier(tolerance: nil, now: Self.time.addingTimeInterval(difference)))
    }

    /// As real servers sent them; all official libraries take them.
    // Proves P17.1, P17.4.
    @Test(arguments: [
        (  // pusher-fake 6.1.0
            #"{"events":[{"channel":"cache-c","name":"cache_miss"}],"time_ms":1795775415}"#, 1_795_775_415,
            "c91c4a7f1892ce1cb70d8b1d7f0889472a72a1e63cf4f89680786eecb3e8eedf"
        ),
        (  // ipe
            #"{"time_ms":1795775416,"events":[{"name":"channel_occupied","channel":"cache-c"}]}"#, 1_795_775_416,
            "732812e89bd3952aee38915ccafd349a3312b1bddf8898c76ea9b26e4d7b2a29"
        ),
        (  // slanger 0.6.0
            #"{"time_ms":"1795775436779","events":[{"name":"channel_occupied","channel":"pub"}]}"#, 1_795_775_436.779,
            "9c02c0dae9544ddeb1bf8a7aed6c5384879c4e145b59ed4da2c6532ec9e67fa0"
        ),
    ])
    func `Webhooks of pusher-fake, ipe, and slanger are verified`(body: String, seconds: TimeInterval, signature: String) throws {
        let time = Date(timeIntervalSince1970: seconds)
        let verifier = Self.verifier(secrets: ["local-key": "local-secret"], now: time)
        let webhook = try verifier.verify(body: Data(body.utf8), key: "local-key", signature: signature)
        #expect(webhook.time == time)
        #expect(webhook.events.count == 1)
    }

    // Proves P17.4.
    @Test(arguments: [
        (#""1795775436779""#, 1_795_775_436.779), ("1795775436779", 1_795_775_436.779), ("1795775415", 1_795_775_415),
        (#""1795775415""#, 1_795_775_415), ("99999999999", 99_999_999_999), ("100000000000", 100_000_000), ("-1", -1),
    ])
    func `A webhook's time is a number or a string of milliseconds or seconds`(written: String, seconds: TimeInterval) throws {
        func verify(at time: TimeInterval) throws -> PusherWebhook {
            let verifier = Self.verifier(now: Date(timeIntervalSince1970: time))
            return try Self.verify(#"{"time_ms":\#(written),"events":[]}"#, by: verifier)
        }
        #expect(try verify(at: seconds + 599).time == Date(timeIntervalSince1970: seconds))
        #expect(throws: PusherWebhookError.outOfTime) { try verify(at: seconds + 601) }
        #expect(throws: PusherWebhookError.outOfTime) { try verify(at: seconds - 601) }
    }

    // Proves P17.5.
    @Test(arguments: [
        "", "x", "[]", "7", "{}", #"{"time_ms":1}"#, #"{"events":[]}"#, #"{"time_ms":"1s","events":[]}"#,
        #"{"time_ms":"","events":[]}"#, #"{"time_ms":1,"events":{}}"#, #"{"time_ms":1.5,"events":[]}"#,
        String(repeating: "[", count: 100_000),
    ])
    func `A signed webhook body without a valid time and a list of events is refused as malformed`(body: String) {
        #expect(throws: PusherWebhookError.malformedBody) {
            try Self.verify(body, by: Self.verifier(tolerance: nil))
        }
    }

    /// Any client can send such data, and the server may put several events into one webhook.
    // Proves P17.3.
    @Test(arguments: [1, 126, 127, 100_000])
    func `Deeply nested data spoils only its own event, not the others of the webhook`(depth: Int) throws {
        let data = String(repeating: "[", count: depth) + #""]}""# + String(repeating: "]", count: depth)
        let sent = #"{"name":"client_event","channel":"private-a","event":"client-x","data":\#(data)}"#
        let found = try events(#"{"name":"member_removed","channel":"presence-a","user_id":"7"},\#(sent)"#)
        #expect(found.first == .memberRemoved(channel: "presence-a", userID: "7"))
        if depth > 127 { #expect(found.last == .other(name: "", json: sent)) }
        #expect(found.count == 2)
    }

    private func data(_ data: String, on channel: String, keys: [EncryptionMasterKey]) throws -> String? {
        let text = JSONValue.string(data).text
        let json = #"{"name":"client_event","channel":"\#(channel)","event":"client-x","data":\#(text)}"#
        guard case .clientEvent(let event)? = try events(json, keys: keys).first else { return nil }
        return event.data
    }

    // Proves P17.6.
    @Test func `A webhook's client event is decrypted if any of the verifier's keys fits, and keeps its data otherwise`() throws {
        let new = try EncryptionMasterKey(base64: Data(repeating: 7, count: 32).base64EncodedString())
        let old = try EncryptionMasterKey(base64: APIRig.masterKey)
        let channel = "private-encrypted-a"
        let encrypted = try #require(EncryptedEvent.encrypt(#"{"a":1}"#, for: channel, with: old))
        for keys in [[old], [new, old], [old, new]] { #expect(try data(encrypted, on: channel, keys: keys) == #"{"a":1}"#) }
        for keys in [[new], []] { #expect(try data(encrypted, on: channel, keys: keys) == encrypted) }
        #expect(try data(encrypted, on: "private-a", keys: [old]) == encrypted)
        for broken in ["x", "{}", #"{"nonce":"AA==","ciphertext":"AA=="}"#, #"{"nonce":7,"ciphertext":"?"}"#] {
            #expect(try data(broken, on: channel, keys: [old]) == broken)
        }
    }
}
