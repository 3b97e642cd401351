import PusherChannels
import Testing

/// Addresses in texts that people read.
@Suite struct AddressesTests {
    @Test(arguments: [
        ("", ""), ("no address", "no address"), ("a: b ://", "a: b ://"),
        ("https://example.com:443/a/b", "https://example.com:443/a/b"),
        ("https://ann:pw@example.com/a", "https://…@example.com/a"), ("https://ann@example.com", "https://…@example.com"),
        ("https://ann:p@ss@example.com/", "https://…@example.com/"), ("http://ann:p/w@example.com/", "http://…@example.com/"),
        ("https://example.com/@ann", "https://example.com/@ann"), ("https://[::1]:80/@ann", "https://[::1]:80/@ann"),
        ("https://example.com/a?token=x&y=z", "https://example.com/a?…"), ("wss://example.com#t=x", "wss://example.com#…"),
        ("https://example.com/a?", "https://example.com/a?"),
        ("asked http://a:b@c?d and \"http://e?f\", 3", "asked http://…@c?… and \"http://e?…\", 3"),
        ("UserInfo={URL=http://c/?d}", "UserInfo={URL=http://c/?…"),
    ])
    func `Passwords and queries of URLs in a text are hidden`(text: String, shown: String) {
        #expect(text.withoutSecretsOfAddresses == shown)
    }

    @Test(arguments: [
        ("example.com/auth?token=x", "example.com/auth?…"), ("https://ann:pw@example.com/a?b", "https://…@example.com/a?…"),
        ("/app/key", "/app/key"), ("ann:pw@example.com/auth", "…@example.com/auth"), ("https//ann:p/w@c/d", "…@c/d"),
        ("https:/ann:pw@c?t=x", "…@c?…"), ("c/d?u=http://a:b@e", "c/d?…"), ("https://c/@ann", "https://c/@ann"),
    ])
    func `Passwords and queries of an address are hidden even without a scheme`(text: String, shown: String) {
        #expect(text.addressWithoutSecrets == shown)
    }
}
