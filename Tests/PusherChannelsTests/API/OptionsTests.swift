import Foundation
import TestSupport
import Testing

@testable import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct OptionsTests {
    @Test(
        arguments: [
            (nil, 86_400), (30, 30), (0, 0), (-1, 0), (.infinity, 86_400), (-.infinity, 0), (.nan, 86_400), (1e300, 86_400),
        ] as [(Double?, Double)])
    func `The maximum reconnect gap is brought into the range from zero to one day`(given: Double?, taken: Double) {
        let pusher = Pusher(key: "k")
        pusher.connection.maxReconnectGapInSeconds = given
        #expect(pusher.connection.maxReconnectGapInSeconds == taken)
    }

    @Test func `The activity timeout is at least 100 milliseconds`() {
        let options = PusherClientOptions(activityTimeout: .leastNonzeroMagnitude)
        #expect(options.machineConfiguration.activityTimeout == .milliseconds(100))
    }

    @Test func `Options that aren't set have the connection machine's default values`() {
        #expect(PusherClientOptions().machineConfiguration == ConnectionMachine.Configuration())
    }

    @Test func `Each step has its own timeout: open, establish, authorization, subscription, and pong`() {
        let rig = ClientRig(
            server: .manual,
            auth: .customHandler { _, _ in
                for await _ in AsyncStream<Void>.makeStream().stream {}
                return PusherAuth(auth: "")
            }
        ) {
            $0.timeouts = ConnectionTimeouts(
                open: .seconds(1), establish: .seconds(2), pong: .seconds(3), close: .seconds(4), authorization: .seconds(5),
                subscription: .seconds(6))
            $0.reconnectPolicy = ReconnectPolicy(initialDelay: .zero, maximumDelay: .zero)
        }
        // Virtual time stays at its origin.
        func deadline() -> Instant? { rig.pusher.connection.core.read(\.nextDeadline) }
        rig.pusher.connect()
        #expect(deadline() == .seconds(1))
        rig.socket.accept()
        #expect(deadline() == .seconds(2))
        rig.socket.serverEstablishes()
        rig.pusher.subscribe("private-a")
        #expect(deadline() == .seconds(5))
        rig.pusher.unsubscribe("private-a")
        rig.pusher.subscribe("news")
        #expect(deadline() == .seconds(6))
        rig.pusher.unsubscribe("news")
        rig.pusher.connection.networkChanged()
        #expect(deadline() == .seconds(3))
    }

    @Test func `If no reconnect attempts are allowed, a lost connection disconnects the client for good`() {
        let rig = ClientRig.connected()
        rig.pusher.connection.reconnectAttemptsMax = 0
        #expect(rig.pusher.connection.reconnectPolicy.maximumRetries == 0)
        rig.socket.drop()
        #expect(rig.recorder.errors.last?.kind == .attemptsExhausted)
        #expect(rig.pusher.connection.connectionState == .disconnected)
    }

    @available(*, deprecated, message: "It reads PusherSwift's names")
    @Test func `PusherSwift's activity and pong timeouts are set independently of each other`() {
        let connection = Pusher(key: "k").connection
        connection.activityTimeoutInterval = 7
        connection.pongResponseTimeoutInterval = 3
        #expect(connection.activityTimeoutInterval == 7)
        #expect(connection.pongResponseTimeoutInterval == 3)
        connection.activityTimeoutInterval = 8
        #expect(connection.pongResponseTimeoutInterval == 3)
    }

    /// A session that records the settings it receives.
    private struct RoutableSession: RoutedHTTPSession {
        let base = MockSession(delivery: .immediate)
        let settings = Locked<[String]>([])

        func dataTask(
            with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
        ) -> MockTask {
            base.dataTask(with: request, completionHandler: completionHandler)
        }

        func routed(tls: TLSConfiguration, proxy: ProxyConfiguration) -> any HTTPSession {
            settings.withLock { $0.append("\(tls.minimumVersion) \(proxy)") }
            return self
        }
    }

    @Test(arguments: [
        (PusherClientOptions(), []), (PusherClientOptions(tls: TLSConfiguration(minimumVersion: .tls13)), ["tls13 environment"]),
        (PusherClientOptions(proxy: .none), ["tls12 none"]),
        (PusherClientOptions(proxy: .http(HTTPProxy(host: "p", port: 1))), ["tls12 http(p:1)"]),
    ])
    func `HTTP requests use the client's TLS and proxy, even when recorded`(options: PusherClientOptions, settings: [String]) {
        let session = RoutableSession()
        for environment in ([session, TrafficRecorder().recording(session)] as [any HTTPSession]).map({
            PusherEnvironment(httpSession: $0)
        }) {
            session.settings.withLock { $0 = [] }
            _ = Pusher(key: "k", options: options, environment: environment)
            #expect(session.settings.withLock { $0 } == settings)
        }
    }

    @Test func `An HTTP session set by the application is used without the client's settings`() {
        let mock = MockSession(delivery: .immediate)
        let options = PusherClientOptions(proxy: .none)
        let pusher = Pusher(key: "k", options: options, environment: PusherEnvironment(httpSession: mock))
        #expect(pusher.connection.session as? MockSession === mock)
        let session = RoutableSession()
        pusher.connection.session = session
        #expect(session.settings.withLock { $0 } == [])
    }
}
