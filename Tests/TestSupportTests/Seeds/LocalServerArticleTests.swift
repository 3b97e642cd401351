import Foundation
import Processes
import TestSupport
import Testing
import XCTest

/// The test case of "Mocking HTTP Requests for iOS App UI Tests". Changed: the server needs no event loop or thread from the
/// test, uses a free port, and is started and stopped with `await`; the test requests the page instead of sleeping until a
/// browser does.
class LocalServerArticleXCTests: XCTestCase {
    var server: LocalServer!
    var router: Router!

    private func setUpWebServer() async throws {
        server = try await LocalServer.start()
        router = server.router
    }

    override func setUp() async throws {
        try await setUpWebServer()
        router["/hello"] = JSONResponse(handler: { (_) in
            return ["Hello": "World"]
        })
    }

    override func tearDown() async throws {
        await server.stop()
    }

    func testWebServer() async throws {
        let (data, _) = try await URLSession.shared.data(from: server.url.appendingPathComponent("hello"))
        XCTAssertEqual(String(decoding: data, as: UTF8.self), #"{"Hello":"World"}"#)
    }
}

/// What the article asks for, too: to point an app at the server through its environment.
struct LocalServerArticleTests {
    #if os(Linux)
    @Test func `Another process finds a local server by its environment variables`() async throws {
        try await withTestHarness { harness in
            let server = try await harness.startServer()
            let script = "echo $PUSHER_HOST:$PUSHER_PORT $PUSHER_KEY $PUSHER_TLS"
            let child = try Command(program: "/bin/sh", ["-c", script], environment: server.environment)
            #expect(await child.output.toEnd() == ["127.0.0.1:\(server.port) local-key 0"])
        }
    }
    #endif
}
