#if os(Linux)
import CLibwebsockets
import Foundation
import Testing

/// The structures in libwebsockets' headers differ from version to version.
@Suite struct LibwebsocketsVersionTests {
    @Test func theHeadersAreThoseOfTheLibrary() {
        let headers = "\(LWS_LIBRARY_VERSION_MAJOR).\(LWS_LIBRARY_VERSION_MINOR).\(LWS_LIBRARY_VERSION_PATCH)"
        let library = String(cString: lws_get_library_version())
        #expect(library.prefix { $0 != "-" } == headers)
        // Set by ci/tools/with-libwebsockets.
        guard let expected = ProcessInfo.processInfo.environment["LIBWEBSOCKETS_VERSION"] else { return }
        #expect(headers == expected)
    }
}
#endif
