import Dispatch
import Foundation
import TestSupport
import Testing

@testable import PusherChannels

/// Encrypted channels from endpoint to closure, with vectors made by other libraries.
@Suite struct EncryptedChannelTests {
    static let masterKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    private static let nonce = "QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZX"
    private static let secret = "Rp+JW0P1Y4Dbn8NPhcFo88FAzz3QPb3PZ646obzmrp4="

    // Proves P10.3.
    @Test(arguments: [
        (secret, nonce, "/TzR8s9jmsFzt7N72uAYgvDkjJsmvEIkWfvRhzYb", #"{"u":"é🙂"}"#),
        (
            "EOWC/ked3NtBDvEs9gFwk7x4oZEbH9I0Lz2qkopBxxs=", "Ew2lLeGzSefk8fyVPbwL1yV+8HMyIBrm",
            "ig9HfL7OKJ9TL97WFRG0xpuk9w0DXUJhLQlQbGf+ID9S3h15vb/fgDfsnsGxQNQDxw+i", #"{"name":"freddy","message":"hello"}"#
        ),
    ])
    func `Data encrypted by other libraries is decrypted`(secret: String, nonce: String, ciphertext: String, plaintext: String) {
        let data = #"{"nonce":"\#(nonce)","ciphertext":"\#(ciphertext)"}"#
        #expect(EncryptedData.open(data, with: SharedSecret(base64: secret)) == .success(plaintext))
    }

    private static let noCiphertext = "its data has no ciphertext of at least 16 bytes in base64"

    // Proves P10.9.
    @Test(
        arguments: [
            (nil, "its data has no nonce of 24 bytes in base64"), ("", "its data is not JSON"), ("plain", "its data is not JSON"),
            ("{}", "its data has no nonce of 24 bytes in base64"),
            (#"{"nonce":"AA==","ciphertext":""}"#, "its data has no nonce of 24 bytes in base64"),
            (#"{"nonce":"\#(nonce)"}"#, noCiphertext), (#"{"nonce":"\#(nonce)","ciphertext":"no base64!"}"#, noCiphertext),
            (#"{"nonce":"\#(nonce)","ciphertext":""}"#, noCiphertext),
            (#"{"nonce":"\#(nonce)","ciphertext":"AAAAAAAAAAAAAAAAAAAA"}"#, noCiphertext),
        ] as [(String?, String)])
    func `Malformed encrypted data fails with an error that names the missing or invalid part`(data: String?, problem: String) {
        #expect(EncryptedData.open(data, with: SharedSecret(base64: Self.secret)) == .failure(.malformed(problem)))
    }

    /// Text that isn't a key counts as a wrong key, so the client asks for another one if it has a way to.
    // Proves P10.5.
    @Test(arguments: [("CzN3y+i7AXVvmSMO0hW4sQ==", secret), ("CzN3y+i7AXVvmSMO0hW4sQ==", "AA==")])
    func `Ciphertext that doesn't fit its key, or a key of wrong length, is a wrong-key error`(ciphertext: String, key: String) {
        let data = #"{"nonce":"\#(Self.nonce)","ciphertext":"\#(ciphertext)"}"#
        #expect(EncryptedData.open(data, with: SharedSecret(base64: key)) == .failure(.wrongKey))
    }

    @Test func `A secret box is opened with its key and nonce, and wrong lengths of either are refused`() throws {
        let key = [UInt8](0..<32)
        let nonce = [UInt8](100..<124)
        let encrypted = try #require(SecretBox.seal(Array("hello".utf8), nonce: nonce, key: key))
        #expect(SecretBox.open(ciphertext: encrypted, nonce: nonce, key: key) == Array("hello".utf8))
        #expect(SecretBox.seal([], nonce: [1], key: key) == nil)
        #expect(SecretBox.open(ciphertext: encrypted, nonce: nonce, key: [1]) == nil)
        #expect(SecretBox.open(ciphertext: encrypted, nonce: nonce + [0], key: key) == nil, "not by its beginning")
    }

    /// The encrypted data of an event on private-encrypted-orders.
    static let event =
        #"{\"nonce\":\"\#(nonce)\",\"ciphertext\":\"C0kyg3jbbxBm0WrgebRFUvDklNxv7eDqzEZyJ3wDyjsf9KG2tbDKvQg=\"}"#

    static func message(_ data: String = Self.event) -> String {
        #"{"event":"placed","channel":"private-encrypted-orders","data":"\#(data)"}"#
    }

    private func rig(masterKey: String? = Self.masterKey) -> ClientRig {
        .connected(auth: .inline(secret: "secret", encryptionMasterKey: masterKey))
    }

    // Proves P10.3, P10.10.
    @Test func `With the master key, a client authorizes and decrypts encrypted channels by itself`() {
        let rig = rig()
        #expect(rig.pusher.subscribe("private-encrypted-orders").subscribed)
        rig.socket.serverSends(Self.message())
        #expect(
            rig.recorder.notifications.last
                == .event("placed", channel: "private-encrypted-orders", data: #"{"message":"hello world"}"#))
    }

    @Test(arguments: [nil, "no base64!", "AA=="])
    func `Without a valid master key, an encrypted channel's error names encryptionMasterKey`(masterKey: String?) {
        let rig = rig(masterKey: masterKey)
        rig.pusher.subscribe("private-encrypted-orders")
        #expect(rig.recorder.errors.map(\.kind) == [.authorization])
        #expect(rig.recorder.errors.first?.message.contains("encryptionMasterKey") == true)
    }

    @Test func `The socket stops reading while events wait to be decrypted, and no event is lost`() {
        let queue = DispatchQueue(label: "reader")
        let (entered, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let rig = rig()
        let opened = Locked(0)
        rig.pusher.subscribe("private-encrypted-orders").bind(eventName: "placed") { _ in opened.withLock { $0 += 1 } }
        rig.pusher.subscribe("news").bind(eventName: "n") { _ in
            entered.signal()
            gate.wait()
        }
        queue.async { rig.publish(0..<1) }
        entered.wait()
        var count = 0
        while rig.socket.isReading, count < 50_000 {
            rig.read(Array(repeating: Self.message(), count: 500))
            count += 500
        }
        #expect(!rig.socket.isReading)
        gate.signal()
        queue.sync {}
        #expect(rig.socket.isReading)
        #expect(opened.withLock { $0 } == count)
    }

    /// The stream has all events of the channel, or an element about those that are missing.
    // Proves P10.8.
    @Test func `An event that can't be decrypted is a gap in the updates, and the delegate gets it as received`() async throws {
        let rig = rig()
        let channel = rig.pusher.subscribe("private-encrypted-orders")
        let updates = channel.updates
        rig.scheduler.advance(by: .seconds(5))
        let before = rig.scheduler.now
        rig.socket.serverSends(Self.message("plain"))
        rig.socket.serverSends(Self.message())
        rig.pusher.unsubscribe(channel.name)
        let words = try await updates.words { update in
            guard case .eventsMayBeMissing(let gap) = update else { return }
            #expect(gap.since <= rig.pusher.connection.core.environment.date(before))
        }
        #expect(words == ["decryptionFailed", #"placed {"message":"hello world"}"#])
        #expect(rig.recorder.notifications.contains(.failedToDecrypt("placed", channel: channel.name, data: "plain")))
    }

    /// It came long before it was given up.
    @Test func `A dropped gap of an event that can't be decrypted still begins before the event arrived`() async throws {
        let rig = ClientRig.connected(auth: .endpoint(authEndpoint: "http://h/auth"))
        rig.respond(#"{"auth":"k:s","shared_secret":"EOWC/ked3NtBDvEs9gFwk7x4oZEbH9I0Lz2qkopBxxs="}"#)
        let channel = rig.pusher.subscribe("private-encrypted-orders")
        let updates = channel.updates(buffering: StreamBuffering(limit: 1, overflow: .dropNewest))
        rig.socket.serverSendsEvent(
            "pusher_internal:subscription_count", channel: channel.name, data: #"{"subscription_count":2}"#)
        rig.scheduler.advance(by: .seconds(3))
        let before = rig.scheduler.now
        rig.session.stub("/auth", .ok.held(by: Gate()))
        rig.socket.serverSends(Self.message())
        rig.scheduler.advance(by: .seconds(30))
        #expect(rig.recorder.notifications.contains { if case .failedToDecrypt = $0 { true } else { false } })
        rig.pusher.unsubscribe(channel.name)
        let words = try await updates.words { update in
            guard case .eventsMayBeMissing(let gap) = update else { return }
            #expect(gap.since <= rig.pusher.connection.core.environment.date(before))
        }
        #expect(words == ["count 2", "overflow"])
    }

    // Proves P10.1.
    @Test(arguments: [
        "", #","shared_secret":"AA==""#, #","shared_secret":"?""#,
        #","shared_secret":"\#(Data(count: 33).base64EncodedString())""#,
    ])
    func `An authorization without a valid shared secret fails the channel and is requested again`(secret: String) {
        let rig = ClientRig.connected(auth: .endpoint(authEndpoint: "http://h/auth"))
        rig.respond(#"{"auth":"k:s"\#(secret)}"#)
        let channel = rig.pusher.subscribe("private-encrypted-orders")
        #expect(rig.recorder.errors.map(\.message) == ["the authorization has no shared_secret of 32 bytes in base64"])
        rig.respond(#"{"auth":"k:s","shared_secret":"EOWC/ked3NtBDvEs9gFwk7x4oZEbH9I0Lz2qkopBxxs="}"#)
        rig.scheduler.advance(by: .seconds(5))
        #expect(channel.subscribed)
    }
}
