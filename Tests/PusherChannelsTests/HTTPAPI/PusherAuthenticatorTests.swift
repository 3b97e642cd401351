import Foundation
import PusherChannels
import TestSupport
import Testing

@Suite struct PusherAuthenticatorTests {
    private struct Info: Encodable {
        let n: String
    }

    private static func authenticator(
        keys: [String] = [APIRig.masterKey], limits: ProtocolLimits = .serverLibraries
    ) throws -> PusherAuthenticator {
        PusherAuthenticator(
            key: "key", secret: "s3cret", encryptionMasterKeys: try keys.map { try EncryptionMasterKey(base64: $0) },
            limits: limits, environment: PusherEnvironment(jsonEncoder: { .sorted }))
    }

    private static func request(_ channel: String?, socketID: String = "1.2") -> PusherAuthRequest {
        PusherAuthRequest(socketID: socketID, channelName: channel)
    }

    /// `python3 -c 'import hashlib,hmac,sys; print(hmac.new(b"s3cret",sys.argv[1].encode(),hashlib.sha256).hexdigest())'
    /// 1.2:private-a`, and likewise below.
    // Proves P16.1.
    @Test func `A private channel is signed with the HMAC of the socket id and the channel's name`() throws {
        let auth = try Self.authenticator().authorizeChannel(Self.request("private-a"))
        let text = #"{"auth":"key:7892e0c10b8b3ccf90cb037eafd38d103f3347cfe46f4bb9950a729d2748e1b1"}"#
        #expect(String(decoding: auth.json, as: UTF8.self) == text)
    }

    /// `python3 -c 'import hashlib,base64;
    /// print(base64.b64encode(hashlib.sha256(b"private-encrypted-a"+bytes(range(32))).digest()))'`
    // Proves P16.2.
    @Test func `An encrypted channel gets a shared secret made with the first master key`() throws {
        let auth = try Self.authenticator(keys: [APIRig.masterKey, Data(repeating: 7, count: 32).base64EncodedString()])
            .authorizeChannel(Self.request("private-encrypted-a"))
        #expect(
            String(decoding: auth.json, as: UTF8.self)
                == #"{"auth":"key:5ba9fa89b78c09c1d0b9e7de1ee9af1dee5974997bf059619deeded4bdb15427","#
                + #""shared_secret":"s1rdijRHyyLa/TmwKiC7A3oeY+nahXaZrWaS3La/se0="}"#)
    }

    // Proves P16.3.
    @Test func `A presence channel is signed with the user's id and info`() throws {
        let auth = try Self.authenticator().authorizePresenceChannel(
            Self.request("presence-a"), userID: "u1", userInfo: Info(n: "A"))
        #expect(
            String(decoding: auth.json, as: UTF8.self)
                == #"{"auth":"key:019e1b5296e8f7d6040698ea6c399f0ad35a0d5190e0c5c6fb683deff8e29765","#
                + #""channel_data":"{\"user_id\":\"u1\",\"user_info\":{\"n\":\"A\"}}"}"#)
        let plain = try Self.authenticator().authorizePresenceChannel(Self.request("presence-a"), userID: "u1")
        #expect(plain.channelData == #"{"user_id":"u1","user_info":{}}"#)
        #expect(plain.auth == "key:0738e7303083e00d326c0aa190f1603a7374eeeda21535e1b16f0b9becd6711f")
    }

    // Proves P16.4.
    @Test func `A user is signed with the id, the info, and the watchlist`() throws {
        let auth = try Self.authenticator().authenticateUser(
            Self.request(nil), userID: "u1", userInfo: ["n": "A"], watchlist: ["u2", "u3"])
        #expect(
            String(decoding: auth.json, as: UTF8.self)
                == #"{"auth":"key:1158447210873fca66e4043317abe055491c7286df4cc4683c207d607e2dfdef","#
                + #""user_data":"{\"id\":\"u1\",\"user_info\":{\"n\":\"A\"},\"watchlist\":[\"u2\",\"u3\"]}"}"#)
        let plain = try Self.authenticator().authenticateUser(Self.request(nil), userID: "u1")
        #expect(plain.auth == "key:610b390391c3de840d4b39f9b42249cf3022208a98790f960c025e449ade0584")
    }

    /// A user may have chosen the ID, so it stays a text, whatever it looks like.
    // Proves P16.3, P16.4.
    @Test func `A user id that looks like JSON stays a single string in the channel data`() throws {
        let id = #"a","user_id":"b\"#
        let auth = try Self.authenticator().authorizePresenceChannel(Self.request("presence-a"), userID: id)
        #expect(auth.channelData == #"{"user_id":"a\",\"user_id\":\"b\\","user_info":{}}"#)
    }

    typealias Refusal = RefusedCall<PusherAuthenticator>

    private static func channel(_ name: String?, socketID: String = "1.2") -> @Sendable (PusherAuthenticator) throws -> Void {
        { _ = try $0.authorizeChannel(request(name, socketID: socketID)) }
    }

    private static func presence(
        userID: String = "u1", info: (any Encodable & Sendable)? = nil
    ) -> @Sendable (PusherAuthenticator) throws -> Void {
        { _ = try $0.authorizePresenceChannel(request("presence-a"), userID: userID, userInfo: info) }
    }

    static let refusals: [Refusal] =
        ["", "1", "1.", ".2", "1.2.3", "a.2", "1.2:private-a", "1.2 ", "1.2\n", "-1.2", "١.٢"].flatMap { socketID in
            [
                Refusal("isn't a socket id", channel("private-a", socketID: socketID)),
                Refusal("isn't a socket id") { _ = try $0.authenticateUser(request(nil, socketID: socketID), userID: "u1") },
                Refusal("isn't a socket id") {
                    _ = try $0.authorizePresenceChannel(request("presence-a", socketID: socketID), userID: "u1")
                },
            ]
        } + [
            // Names that would sign user data, or a presence channel with data from the client.
            Refusal("can't contain", channel(#":user::{"id":"admin"}"#)),
            Refusal("can't contain", channel(#"private-a:{"user_id":"admin"}"#)),
            Refusal("can't contain", channel(#"presence-a:{"user_id":"admin"}"#)),
            Refusal("can't contain", channel("#server-to-user-admin")),
            Refusal("can't be empty", channel("")),
            Refusal("longer than 200", channel("private-" + String(repeating: "x", count: 193))),
            Refusal("private-a isn't a presence channel") {
                _ = try $0.authorizePresenceChannel(request("private-a"), userID: "u1")
            },
            Refusal("not for a channel") { _ = try $0.authorizePresenceChannel(request(nil), userID: "u1") },
            Refusal("a user needs an id", presence(userID: "")),
            Refusal("longer than 128", presence(userID: String(repeating: "x", count: 129))),
            Refusal("more than 1024 bytes, this has 1025", presence(info: Info(n: String(repeating: "x", count: 1017)))),
            Refusal("must be a JSON object", presence(info: #"{"n":1}"#)), Refusal("can't be encoded", presence(info: NoJSON())),
            Refusal("for a channel, not for a user") { _ = try $0.authenticateUser(request("private-a"), userID: "u1") },
            Refusal("a watchlist can name 100 users, this one has 101") {
                _ = try $0.authenticateUser(request(nil), userID: "u1", watchlist: Array(repeating: "u", count: 101))
            },
            Refusal("must be a JSON object") { _ = try $0.authenticateUser(request(nil), userID: "u1", userInfo: [1]) },
        ]

    // Proves P16.5, P16.6.
    @Test(arguments: refusals)
    func `A request with an invalid or unsuitable socket id, channel, or user isn't signed`(refusal: Refusal) async throws {
        // This also holds if the server would accept names with any characters.
        for limits in [ProtocolLimits.serverLibraries, ProtocolLimits(channelNameLength: 200, restrictsChannelCharacters: false)]
        {
            let authenticator = try Self.authenticator(limits: limits)
            let error = await #expect(throws: PusherError.self) { try await refusal.run(authenticator) }
            #expect(error?.kind == .invalidRequest)
            #expect(error?.message.contains(refusal.testDescription) == true, "\(error?.message ?? "")")
        }
    }

    // Proves P16.6.
    @Test func `An authenticator without limits signs names, ids, infos, and watchlists above the defaults`() throws {
        let authenticator = try Self.authenticator(limits: .unchecked)
        let long = String(repeating: "x", count: 2000)
        _ = try authenticator.authorizePresenceChannel(Self.request("presence-\(long)"), userID: long, userInfo: Info(n: long))
        _ = try authenticator.authenticateUser(Self.request(nil), userID: long, watchlist: Array(repeating: "u", count: 101))
    }

    @Test func `A user's id, info, and watchlist are signed up to their limits`() throws {
        let authenticator = try Self.authenticator()
        let id = String(repeating: "é", count: 128)
        _ = try authenticator.authorizePresenceChannel(
            Self.request("presence-a"), userID: id, userInfo: Info(n: String(repeating: "x", count: 1016)))
        _ = try authenticator.authenticateUser(Self.request(nil), userID: id, watchlist: Array(repeating: "u", count: 100))
    }
}
