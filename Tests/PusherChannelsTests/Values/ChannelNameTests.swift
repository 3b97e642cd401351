import Testing

@testable import PusherChannels

@Suite struct ChannelNameTests {
    // Proves P12.3.
    @Test(
        arguments: [
            ("room", .public), ("cache-room", .public), ("", .public), ("private", .public), ("Private-room", .public),
            ("my-private-room", .public), ("presence", .public), ("encrypted-room", .public),
            ("private-room", .private), ("private-", .private), ("private-cache-room", .private), ("private-encrypted", .private),
            ("private-encryptedroom", .private), ("private-presence-room", .private),
            ("presence-room", .presence), ("presence-cache-room", .presence), ("presence-encrypted-room", .presence),
            ("private-encrypted-room", .encrypted), ("private-encrypted-cache-room", .encrypted),
            ("private-\u{301}", .private), ("presence-\u{301}", .presence), ("private-encrypted-\u{301}", .encrypted),
        ] as [(String, ChannelName.Kind)])
    func `The prefix of a channel's name decides its kind`(name: String, kind: ChannelName.Kind) {
        #expect(ChannelName(name).kind == kind)
        #expect(ChannelName(name).text == name)
    }

    @Test(arguments: [
        ("room", false, false), ("private-room", true, true), ("presence-room", true, true),
        ("private-encrypted-room", true, false),
        ("private-cache-room", true, true),
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
            ("a", nil), ("private-foo_bar=@,.;-", nil), ("0123456789", nil), ("ABCXYZabcxyz", nil),
            (String(repeating: "x", count: 164), nil),
            ("", "a channel name can't be empty"),
            (String(repeating: "x", count: 165), "a channel name can't be longer than 164 characters, this one has 165"),
            ("a b", #"a channel name can't contain " ": letters, digits and _ - = @ , . ; are allowed"#),
            ("#server-to-user-1", ##"a channel name can't contain "#": letters, digits and _ - = @ , . ; are allowed"##),
            ("a\nb", #"a channel name can't contain "\n": letters, digits and _ - = @ , . ; are allowed"#),
            ("raum-é", #"a channel name can't contain "é": letters, digits and _ - = @ , . ; are allowed"#),
        ] as [(String, String?)])
    func `A valid channel name has no problem, and an invalid one is reported with what is wrong with it`(
        name: String, problem: String?
    ) {
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

    // Proves P11.1.
    @Test(arguments: [
        ("cache-a", true), ("private-cache-a", true), ("presence-cache-a", true), ("private-encrypted-cache-a", true),
        ("a-cache-", false), ("cachea", false), ("private-a", false), ("private-encrypted-a", false),
    ])
    func `A cache channel is known by its prefix`(name: String, isCache: Bool) {
        #expect(ChannelName(name).isCache == isCache)
    }
}
