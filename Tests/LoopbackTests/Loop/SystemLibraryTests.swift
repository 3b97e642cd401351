#if os(Linux)
import CLibwebsockets
import Foundation
import Glibc
@testable import PusherChannels
import Testing

#if compiler(>=6.2)
/// libsodium is initialized once, by its first user, so each test runs in its own process.
@Suite struct SodiumTests {
    /// Returns whether libsodium had already been initialized.
    private static func isReady() -> Bool {
        typealias Initialize = @convention(c) () -> Int32
        return dlsym(nil, "sodium_init").map { unsafeBitCast($0, to: Initialize.self)() == 1 } ?? false
    }

    @Test func `The first signature of a process initializes libsodium`() async {
        await #expect(processExitsWith: .success) {
            _ = hmacSHA256("message", key: "key")
            try #require(Self.isReady())
        }
    }

    @Test func `The first shared secret of a process initializes libsodium`() async {
        await #expect(processExitsWith: .success) {
            let secret = SecretBox.sharedSecret(channel: "channel", masterKey: [])
            try #require(secret.count == SecretBox.keyLength && Self.isReady())
        }
    }
}
#endif

/// The structures in libwebsockets' headers differ from version to version.
@Suite struct LibwebsocketsVersionTests {
    @Test func `The libwebsockets headers have the version of the linked library`() {
        let headers = "\(LWS_LIBRARY_VERSION_MAJOR).\(LWS_LIBRARY_VERSION_MINOR).\(LWS_LIBRARY_VERSION_PATCH)"
        let library = String(cString: lws_get_library_version())
        #expect(library.prefix { $0 != "-" } == headers)
        // Set by ci/tools/with-libwebsockets.
        guard let expected = ProcessInfo.processInfo.environment["LIBWEBSOCKETS_VERSION"] else { return }
        #expect(headers == expected)
    }
}
#endif
