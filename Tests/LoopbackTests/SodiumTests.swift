#if os(Linux)
import Glibc
@testable import PusherChannels
import Testing

#if compiler(>=6.2)
/// In processes of their own: libsodium is made ready once, by whoever needs it first.
@Suite struct SodiumTests {
    /// It says whether it was ready before.
    private static func isReady() -> Bool {
        typealias Initialize = @convention(c) () -> Int32
        return dlsym(nil, "sodium_init").map { unsafeBitCast($0, to: Initialize.self)() == 1 } ?? false
    }

    @Test func isReadyForASignature() async {
        await #expect(processExitsWith: .success) {
            _ = hmacSHA256("message", key: "key")
            try #require(Self.isReady())
        }
    }

    @Test func isReadyForABox() async {
        await #expect(processExitsWith: .success) {
            let secret = SecretBox.sharedSecret(channel: "channel", masterKey: [])
            try #require(secret.count == SecretBox.keyLength && Self.isReady())
        }
    }
}
#endif
#endif
