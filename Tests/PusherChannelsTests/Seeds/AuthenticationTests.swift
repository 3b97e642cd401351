import Foundation
import PusherChannels
import TestSupport
import XCTest

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The article's test. Changed: `PusherConnectionDelegate` is `PusherDelegate` today, `subscriptionDidSucceed` is
/// `subscribedToChannel`, the mock session is an instance, and `wait(for:)` stands for `waitForExpectations`, which Swift 6
/// leaves to the main actor.
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

        wait(for: [ex], timeout: 0.5)
    }
}
