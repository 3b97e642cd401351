import Testing

@testable import PusherChannels

@Suite struct ChannelNameTests {
    @Test(arguments: [
        ("room", ChannelName.Kind.public), ("private-room", .private), ("presence-room", .presence),
        ("private-encrypted-room", .encrypted), ("private-encryptedroom", .private), ("privateroom", .public),
        ("Private-room", .public), ("cache-room", .public), ("private-cache-room", .private), ("presence-cache-room", .presence),
        ("private-encrypted-cache-room", .encrypted), ("", .public),
    ])
    func theKindIsInTheName(name: String, kind: ChannelName.Kind) {
        #expect(ChannelName(name).kind == kind)
    }

    @Test(arguments: ["a", "A-z_0=9@,.;", "private-", String(repeating: "x", count: 164)])
    func namesThatServersTake(name: String) {
        #expect(ChannelName(name).problem(.hosted) == nil)
    }

    @Test(arguments: ["", " ", "a b", "a/b", "a#b", "a:b", "é", "a\u{0}", "a\n", "a\"b", String(repeating: "x", count: 165)])
    func namesThatTheyDoNot(name: String) {
        #expect(ChannelName(name).problem(.hosted) != nil)
    }

    @Test func selfHostedServersMayTakeMore() {
        #expect(ChannelName("a b/" + String(repeating: "x", count: 300)).problem(.unchecked) == nil)
        #expect(ChannelName("").problem(.unchecked) != nil)
    }

    @Test(arguments: [
        ("cache-a", true), ("private-cache-a", true), ("presence-cache-a", true), ("private-encrypted-cache-a", true),
        ("a-cache-", false), ("cachea", false), ("private-a", false), ("private-encrypted-a", false),
    ])
    func cacheChannelsAreKnownByTheirPrefix(name: String, isCache: Bool) {
        #expect(ChannelName(name).isCache == isCache)
    }
}
