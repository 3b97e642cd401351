import Testing

@testable import PusherChannels

@Suite struct ChannelNameTests {
    // Proves P11.1, P12.3.
    @Test(
        arguments: [
            ("room", .public, false), ("", .public, false), ("private", .public, false), ("Private-room", .public, false),
            ("my-private-room", .public, false), ("presence", .public, false), ("encrypted-room", .public, false),
            ("cache-room", .public, true), ("a-cache-", .public, false), ("cachea", .public, false),
            ("private-room", .private, false), ("private-", .private, false), ("private-cache-room", .private, true),
            ("private-encrypted", .private, false), ("private-encryptedroom", .private, false),
            ("private-presence-room", .private, false), ("private-\u{301}", .private, false),
            ("presence-room", .presence, false), ("presence-cache-room", .presence, true),
            ("presence-encrypted-room", .presence, false), ("presence-\u{301}", .presence, false),
            ("private-encrypted-room", .encrypted, false), ("private-encrypted-cache-room", .encrypted, true),
            ("private-encrypted-\u{301}", .encrypted, false),
        ] as [(String, ChannelName.Kind, Bool)])
    func `A name's prefix decides the channel's kind and if it has a cache`(name: String, kind: ChannelName.Kind, isCache: Bool) {
        let channel = ChannelName(name)
        #expect(channel.kind == kind)
        #expect(channel.isCache == isCache)
        #expect(channel.text == name)
    }

    @Test(arguments: [
        ("room", false, false), ("private-room", true, true), ("presence-room", true, true),
        ("private-encrypted-room", true, false), ("private-cache-room", true, true),
    ])
    func `A channel's kind decides whether it needs authorization and allows client events`(
        name: String, needsAuthorization: Bool, allowsClientEvents: Bool
    ) {
        #expect(ChannelName(name).needsAuthorization == needsAuthorization)
        #expect(ChannelName(name).allowsClientEvents == allowsClientEvents)
    }

    @Test func `Of ASCII, a channel name may contain letters, digits, and _-=@,.; only`() {
        let allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-=@,.;"
        for value in UInt8(0)...0x7F {
            let scalar = Unicode.Scalar(value)
            #expect((ChannelName("a\(scalar)b").problem(.hosted) == nil) == allowed.unicodeScalars.contains(scalar), "\(value)")
        }
    }

    // Proves P12.1.
    @Test(
        arguments: [
            ("a", nil), ("private-foo_bar=@,.;-", nil), (String(repeating: "x", count: 164), nil),
            ("", "a channel name can't be empty"),
            (String(repeating: "x", count: 165), "a channel name can't be longer than 164 characters, this one has 165"),
            ("a b", #"a channel name can't contain " ": letters, digits and _ - = @ , . ; are allowed"#),
            ("#server-to-user-1", ##"a channel name can't contain "#": letters, digits and _ - = @ , . ; are allowed"##),
            ("a\nb", #"a channel name can't contain "\n": letters, digits and _ - = @ , . ; are allowed"#),
            ("raum-é", #"a channel name can't contain "é": letters, digits and _ - = @ , . ; are allowed"#),
        ] as [(String, String?)])
    func `A valid channel name has no problem, and an invalid one's says what is wrong`(name: String, problem: String?) {
        #expect(ChannelName(name).problem(.hosted) == problem)
    }

    // Proves P12.4.
    @Test func `A channel name may be longer and have any characters if the limits allow it`() {
        #expect(ChannelName("a b/" + String(repeating: "x", count: 300)).problem(.unchecked) == nil)
        #expect(ChannelName("").problem(.unchecked) != nil)
        let anyCharacters = ProtocolLimits(restrictsChannelCharacters: false)
        #expect(ChannelName(String(repeating: "é", count: 164)).problem(anyCharacters) == nil)
        #expect(
            ChannelName(String(repeating: "é", count: 165)).problem(anyCharacters)
                == "a channel name can't be longer than 164 characters, this one has 165")
    }
}
