import Foundation
import PusherChannels
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct EndpointTests {
    private let endpoint = "http://auth.example/pusher/auth?tenant=7"

    private let authorization = #"{"auth":"key:abc"}"#

    private func rig() -> ClientRig { .connected(auth: .endpoint(authEndpoint: endpoint)) }

    /// A client whose endpoint gives this reply to the request for a channel.
    private func rig(replying body: String, status: Int = 200) -> ClientRig {
        let rig = rig()
        rig.respond(body, status: status)
        rig.pusher.subscribe("private-room")
        return rig
    }

    // Proves P14.1.
    @Test func `An endpoint gets a POST with the socket ID and channel name as a percent-encoded form`() throws {
        let rig = rig()
        rig.respond(authorization)
        rig.pusher.subscribe("private-a,b;c=d@e.f")
        let request = try #require(rig.session.requests.first)
        #expect(request.method == "POST")
        #expect(request.url == endpoint)
        #expect(request.headers["Content-Type"] == "application/x-www-form-urlencoded")
        #expect(request.text == "socket_id=46123.486095&channel_name=private-a%2Cb%3Bc%3Dd%40e.f")
        #expect(rig.recorder.subscribedChannels == ["private-a,b;c=d@e.f"])
    }

    @Test func `The scheme of an endpoint's address may be in capitals`() {
        let rig = ClientRig.connected(auth: .endpoint(authEndpoint: "HTTPS://auth.example/pusher/auth"))
        rig.session.stubAuth(secret: "secret", key: "key")
        #expect(rig.pusher.subscribe("private-orders").subscribed)
    }

    // Proves P6.8.
    @Test func `An endpoint may take as long as the authorization timeout allows`() {
        let rig = ClientRig.connected(auth: .endpoint(authEndpoint: endpoint)) {
            $0.timeouts = ConnectionTimeouts(authorization: .seconds(101))
        }
        rig.session.delivery = .scheduled(rig.scheduler, after: .seconds(100))
        rig.respond(authorization)
        let room = rig.pusher.subscribe("private-room")
        rig.scheduler.advance(by: .seconds(100))
        #expect(room.subscribed)
    }

    // Proves P14.2, P14.3.
    @Test(arguments: [
        (403, "not yours", "answered with status 403"),
        (500, "<html>oops</html>", "answered with status 500"),
        (302, "", "answered with status 302"),
        (200, "<html>log in</html>", "answered with status 200, but its body is not JSON"),
        (200, "", "answered with status 200, but with an empty body"),
        (200, "{}", #"but its body has no string "auth""#),
        (200, #"{"auth":7}"#, #"but its body has no string "auth""#),
        (200, "[]", #"but its body has no string "auth""#),
        (200, #""key:abc""#, #"but its body has no string "auth""#),
        (200, "\u{0}\u{1}", "its body is not JSON"),
        // Without these errors, the server would only say that the signature is wrong.
        (200, #"{"auth":"k:s","channel_data":{"user_id":"1"}}"#, #"but its "channel_data" isn't a string"#),
        (200, #"{"auth":"k:s","shared_secret":7}"#, #"but its "shared_secret" isn't a string"#),
    ])
    func `An unusable endpoint reply fails the channel with an error that says what is wrong`(
        status: Int, body: String, problem: String
    ) {
        let rig = rig(replying: body, status: status)
        guard case .failedToSubscribe("private-room", let error?, status, let shown) = rig.recorder.notifications.last else {
            Issue.record("no failure was reported: \(rig.recorder.notifications)")
            return
        }
        #expect(rig.recorder.errors.map(\.kind) == [.authorization], "it is reported once")
        #expect(error.code == status)
        #expect(error.message.contains(problem))
        #expect(shown == (status == 200 ? nil : body), "what was meant to hold an authorization is not shown")
        #expect(rig.pusher.connection.connectionState == .connected)
        #expect(rig.recorder.subscribedChannels.isEmpty)
        // A response that isn't an authorization may be a gateway's page, so it is requested again.
        rig.respond(authorization)
        rig.scheduler.advance(by: .seconds(1))
        #expect(rig.recorder.subscribedChannels == (status == 200 || status == 500 ? ["private-room"] : []))
    }

    /// Some editors put a byte order mark at the beginning of a PHP file.
    // Proves P14.2.
    @Test(arguments: [(200, ""), (200, "\u{FEFF}"), (201, ""), (299, "")])
    func `An auth value with a 2xx status authorizes, also with an error or a byte order mark`(status: Int, mark: String) {
        let rig = rig(replying: mark + #"{"auth":"key:abc","error":"","code":403}"#, status: status)
        #expect(rig.recorder.subscribedChannels == ["private-room"])
    }

    private final class Listener: PusherDelegate, Sendable {
        let errors = Locked<[NSError]>([])

        func failedToSubscribeToChannel(name: String, response: URLResponse?, data: String?, error: NSError?) {
            if let error { errors.withLock { $0.append(error) } }
        }
    }

    /// Programs that were written for PusherSwift look for the errors of a `URLSession`.
    // Proves P14.4.
    @Test func `A delegate gets an unreachable endpoint's error in URLSession's error domain`() throws {
        let rig = rig()
        let listener = Listener()
        rig.pusher.delegate = listener
        let cause = TransportError(.connectionRefused, "nothing listens there")
        let refused = URLError(.cannotConnectToHost, userInfo: [NSUnderlyingErrorKey: cause])
        rig.session.mockResponse = (nil, nil, refused as NSError)
        rig.pusher.subscribe("private-room")
        rig.pusher.unsubscribe("private-room")
        rig.respond("no", status: 403)
        rig.pusher.subscribe("private-room")
        let (lost, forbidden) = try #require(listener.errors.withLock { $0.count == 2 ? ($0[0], $0[1]) : nil })
        #expect((lost.domain, lost.code) == (NSURLErrorDomain, NSURLErrorCannotConnectToHost))
        #expect(lost.userInfo[NSUnderlyingErrorKey] as? TransportError == cause)
        #expect(PusherError(lost)?.kind == .authorization)
        #expect(lost.localizedDescription.hasPrefix("the authorization endpoint could not be asked: "))
        #expect((forbidden.domain, forbidden.code) == (PusherError.errorDomain, 403))
        #expect(PusherError(forbidden)?.code == 403)
        #expect(PusherError(refused as NSError) == nil)
    }

    @Test func `A delegate gets a timed-out authorization as URLSession's timeout error`() throws {
        let rig = rig()
        let listener = Listener()
        rig.pusher.delegate = listener
        rig.session.delivery = .scheduled(rig.scheduler, after: .seconds(3600))
        rig.pusher.subscribe("private-room")
        rig.scheduler.advance(by: .seconds(60))
        let error = try #require(listener.errors.withLock(\.first))
        #expect((error.domain, error.code) == (NSURLErrorDomain, NSURLErrorTimedOut))
        #expect(PusherError(error)?.kind == .timedOut)
        // The late response, which waits in the scheduler, refers to both.
        rig.scheduler.advance(by: .seconds(3600))
    }

    @Test func `An endpoint request that ends without a response fails the channel`() {
        let rig = rig()
        rig.session.mockResponse = (nil, nil, nil)
        rig.pusher.subscribe("private-room")
        #expect(rig.recorder.errors.map(\.message) == ["the authorization endpoint gave no HTTP response"])
    }

    @Test func `Unsubscribing a channel cancels its endpoint request`() {
        let rig = rig()
        rig.session.delivery = .scheduled(rig.scheduler, after: .seconds(5))
        rig.respond(authorization)
        let before = rig.scheduler.pendingTimers
        rig.pusher.subscribe("private-room")
        #expect(rig.scheduler.pendingTimers.contains { $0.deadline == .seconds(5) })
        rig.pusher.unsubscribe("private-room")
        #expect(!rig.scheduler.pendingTimers.contains { $0.deadline == .seconds(5) })
        rig.scheduler.advance(by: .seconds(15))
        #expect(rig.scheduler.pendingTimers.count == before.count)
        #expect(rig.recorder.errors.isEmpty)
    }

    @Test(arguments: [
        ("", ""), ("not an address", "not an address"), ("/pusher/auth", "/pusher/auth"), ("http://", "http://"),
        ("ftp://example/auth", "ftp://example/auth"), ("mailto:a", "mailto:a"),
        ("ann:pw@app.example/auth", "…@app.example/auth"),
    ])
    func `An address that isn't an HTTP address fails without a request, and shows no password`(endpoint: String, shown: String) {
        let rig = ClientRig.connected(auth: .endpoint(authEndpoint: endpoint))
        rig.pusher.subscribe("private-room")
        #expect(rig.recorder.errors.map(\.message) == ["\(shown) is not an http address"])
        #expect(rig.session.requests.isEmpty)
    }

    private struct Builder: AuthRequestBuilderProtocol {
        let url: URL?

        func requestFor(socketID: String, channelName: String) -> URLRequest? {
            url.map {
                var request = URLRequest(url: $0)
                request.setValue("Bearer t", forHTTPHeaderField: "Authorization")
                request.setValue("\(socketID)/\(channelName)", forHTTPHeaderField: "X-For")
                return request
            }
        }
    }

    // Proves P14.5.
    @Test func `A request that the application built is sent with its own method and headers`() throws {
        let builder = Builder(url: URL(string: "https://example/auth"))
        let rig = ClientRig.connected(auth: .authRequestBuilder(authRequestBuilder: builder))
        rig.respond(authorization)
        rig.pusher.subscribe("private-room")
        let request = try #require(rig.session.requests.first)
        #expect(request.method == "GET")
        #expect(request.headers["Authorization"] == "Bearer t")
        #expect(request.headers["X-For"] == "46123.486095/private-room")
        #expect(rig.recorder.subscribedChannels == ["private-room"])
    }

    // Proves P14.5.
    @Test func `A request builder that returns nil fails the subscription`() {
        let rig = ClientRig.connected(auth: .authRequestBuilder(authRequestBuilder: Builder(url: nil)))
        rig.pusher.subscribe("private-room")
        #expect(rig.recorder.errors.map(\.message) == ["the request builder built no request for private-room"])
    }
}
