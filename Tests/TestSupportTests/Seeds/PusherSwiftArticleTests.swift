import Foundation
import TestSupport
import Testing
import XCTest

/// The presence test of "What I Learned Building the PusherSwift Framework", with one word changed: `PresencePusherChannel` is
/// `PusherPresenceChannel` today.
class PusherPresenceChannelTests: XCTestCase {
    var pusher: Pusher!
    var socket: MockWebSocket!
    var options: PusherClientOptions!

    override func setUp() {
        super.setUp()

        options = PusherClientOptions(
            authMethod: .inline(secret: "secret")
        )
        pusher = Pusher(key: "key", options: options)
        socket = MockWebSocket()
        socket.delegate = pusher.connection
        pusher.connection.socket = socket
    }

    func testMembersObjectStoresSocketIdIfNoUserDataFetcherIsProvided() {
        pusher.connect()
        let chan = pusher.subscribe("presence-channel") as? PusherPresenceChannel
        XCTAssertEqual(chan?.members.first!.userID, "46123.486095", "the userID should be 46123.486095")
    }
}

/// The article's authentication test. Changed: `PusherConnectionDelegate` is `PusherDelegate` today, `subscriptionDidSucceed` is
/// `subscribedToChannel`, the mock session is an instance, `wait(for:)` replaces `waitForExpectations`, which Swift 6 restricts
/// to the main actor, and the time-out is longer, because the test must not fail on a loaded machine.
class AuthenticationTests: XCTestCase {
    class DummyDelegate: PusherDelegate {
        var ex: XCTestExpectation?
        var testingChannelName: String?

        func subscribedToChannel(name: String) {
            if let cName = testingChannelName, cName == name {
                ex!.fulfill()
            }
        }
    }

    var pusher: Pusher!
    var socket: MockWebSocket!

    override func setUp() {
        super.setUp()

        let options = PusherClientOptions(
            authMethod: AuthMethod.endpoint(authEndpoint: "http://localhost:9292/pusher/auth")
        )
        pusher = Pusher(key: "testKey123", options: options)
        socket = MockWebSocket()
        socket.delegate = pusher.connection
        pusher.connection.socket = socket
    }

    func setupMockAuthResponseForRequest(toEndpoint authEndpoint: String) {
        let jsonData = "{\"auth\":\"testKey123:12345678gfder78ikjbg\"}".data(
            using: String.Encoding.utf8, allowLossyConversion: false)!
        let urlResponse = HTTPURLResponse(
            url: URL(string: "\(authEndpoint)?channel_name=private-test-channel&socket_id=45481.3166671")!, statusCode: 200,
            httpVersion: nil, headerFields: nil)

        let session = MockSession()
        session.mockResponse = (jsonData, urlResponse: urlResponse, error: nil)
        pusher.connection.URLSession = session
    }

    func testSubscribingToAPrivateChannelShouldMakeARequestToTheAuthEndpoint() {
        let ex = expectation(description: "the channel should be subscribed to successfully")
        let channelName = "private-test-channel"

        let dummyDelegate = DummyDelegate()
        dummyDelegate.ex = ex
        dummyDelegate.testingChannelName = channelName
        pusher.connection.delegate = dummyDelegate

        if case .endpoint(authEndpoint: let authEndpoint) = pusher.connection.options.authMethod {
            setupMockAuthResponseForRequest(toEndpoint: authEndpoint)
        }

        let chan = pusher.subscribe(channelName)
        XCTAssertFalse(chan.subscribed, "the channel should not be subscribed")
        pusher.connect()

        wait(for: [ex], timeout: 30)
    }
}

struct PusherSwiftArticleTests {
    /// The article's `MockTask`, which completes on a global queue.
    @Test func `A mock task completes with its response`() async throws {
        let response: MockSession.Response = (data: Data("body".utf8), urlResponse: nil, error: nil)
        let text = await withCheckedContinuation { continuation in
            MockTask(response: response) { data, _, _ in
                continuation.resume(returning: data.map { String(decoding: $0, as: UTF8.self) })
            }.resume()
        }
        #expect(text == "body")
    }
}
