import Testing

@testable import PusherChannels

/// The examples of Pusher's documentation and of its server libraries.
@Suite struct SignatureTests {
    private static let key = "278d425bdf160c739803"
    private static let secret = "7ad3773142a6692b25b8"

    /// The documentation prints another signature for the presence channel: it is for the name "Mr. Pusher", which the example
    /// had before.
    // Proves P14.7.
    @Test(arguments: [
        ("private-foobar", nil, "58df8b0c36d6982b82c3ecf6b4662e34fe8c25bba48f5369f135bf843651c3a4"),
        (
            "presence-foobar", #"{"user_id":10,"user_info":{"name":"Mr. Channels"}}"#,
            "31935e7d86dba64c2a90aed31fdc61869f9b22ba9d8863bba239c03ca481bc80"
        ),
        (
            "presence-foobar", #"{"user_id":10,"user_info":{"name":"Mr. Pusher"}}"#,
            "afaed3695da2ffd16931f457e338e6c9f2921fa133ce7dac49f529792be6304c"
        ),
    ])
    func channelSignatureIsThatOfTheDocumentation(channel: String, channelData: String?, digest: String) throws {
        let signature = try Signature.channel(
            channel, channelData: channelData, socketID: "1234.1234", key: Self.key, secret: Self.secret)
        #expect(signature == "\(Self.key):\(digest)")
    }

    // Proves P14.7.
    @Test func userSignatureIsThatOfTheDocumentation() throws {
        let signature = try Signature.user(#"{"id":"12345"}"#, socketID: "1234.1234", key: Self.key, secret: Self.secret)
        #expect(signature == "\(Self.key):4708d583dada6a56435fb8bc611c77c359a31eebde13337c16ab43aa6de336ba")
    }

    // Proves P14.7.
    @Test(arguments: [
        ("private-a", nil, "7892e0c10b8b3ccf90cb037eafd38d103f3347cfe46f4bb9950a729d2748e1b1"),
        ("private-encrypted-a", nil, "5ba9fa89b78c09c1d0b9e7de1ee9af1dee5974997bf059619deeded4bdb15427"),
        (
            "presence-a", #"{"user_id":"u1","user_info":{"n":"A"}}"#,
            "019e1b5296e8f7d6040698ea6c399f0ad35a0d5190e0c5c6fb683deff8e29765"
        ),
    ])
    func everyKindOfChannelIsSigned(channel: String, channelData: String?, digest: String) throws {
        let signature = try Signature.channel(channel, channelData: channelData, socketID: "1.2", key: "k", secret: "s3cret")
        #expect(signature == "k:\(digest)")
    }

    @Test func everyUserIsSigned() throws {
        let signature = try Signature.user(#"{"id":"u1"}"#, socketID: "1.2", key: "k", secret: "s3cret")
        #expect(signature == "k:610b390391c3de840d4b39f9b42249cf3022208a98790f960c025e449ade0584")
    }

    // Proves P14.7, P16.5.
    @Test(arguments: ["", "1", "1.2.3", "a.b", "1.2:private-a", "POST\n/apps/1/events\nx=", "1.２"])
    func nothingIsSignedForASocketIDThatIsNotTwoNumbers(socketID: String) {
        let error = #expect(throws: PusherError.self) {
            try Signature.channel("private-a", socketID: socketID, key: "k", secret: "s")
        }
        #expect(throws: PusherError.self) { try Signature.user("{}", socketID: socketID, key: "k", secret: "s") }
        #expect(error?.kind == .invalidRequest)
    }

    @Test func channelDataIsSignedByteForByte() throws {
        let signatures = try [#"{"user_id":"1"}"#, #"{"user_id": "1"}"#, #"{"user_id":1}"#, "", nil].map {
            try Signature.channel("presence-a", channelData: $0, socketID: "1.2", key: "k", secret: "s")
        }
        #expect(Set(signatures).count == signatures.count)
    }

    // MARK: Requests

    private static let query = [
        "auth_key": key, "auth_timestamp": "1353088179", "auth_version": "1.0",
        "body_md5": "ec365a775a4cd0599faeb73354201b6f",
    ]
    private static let digest = "da454824c97ba181a32ccc17a72625ba02771f50b50e1e7430e47a1f3f457e6c"

    @Test func requestSignatureIsThatOfTheDocumentation() {
        let signature = Signature.request(method: "POST", path: "/apps/3/events", query: Self.query, secret: Self.secret)
        #expect(signature == Self.digest)
    }

    @Test func namesOfParametersAreSignedInLowercase() {
        let query = Dictionary(uniqueKeysWithValues: Self.query.map { ($0.key.uppercased(), $0.value) })
        #expect(Signature.request(method: "POST", path: "/apps/3/events", query: query, secret: Self.secret) == Self.digest)
    }

    @Test func parametersAreSignedInTheOrderOfTheirNamesAndUnescaped() {
        let signed = hmacSHA256("GET\n/apps/3/channels\na_b=1&filter_by_prefix=presence-é &info=user_count,x", key: "s")
        let query = ["info": "user_count,x", "filter_by_prefix": "presence-é ", "a_b": "1"]
        #expect(Signature.request(method: "GET", path: "/apps/3/channels", query: query, secret: "s") == signed)
    }
}
