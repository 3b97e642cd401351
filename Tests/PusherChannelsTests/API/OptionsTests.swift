import Foundation
import TestSupport
import Testing

@testable import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Numbers that applications set, including odd ones.
struct OptionsTests {
    @Test(
        arguments: [
            (nil, 86_400), (30, 30), (0, 0), (-1, 0), (.infinity, 86_400), (-.infinity, 0), (.nan, 86_400), (1e300, 86_400),
        ] as [(Double?, Double)])
    func anyNumberOfSecondsIsTaken(given: Double?, taken: Double) {
        let pusher = Pusher(key: "k")
        pusher.connection.maxReconnectGapInSeconds = given
        #expect(pusher.connection.maxReconnectGapInSeconds == taken)
    }

    @Test(arguments: [Double.infinity, .nan, -1, 1e300]) func anActivityTimeoutOfNoUseDoesNoHarm(seconds: Double) {
        let rig = ClientRig.connected { $0.activityTimeout = seconds }
        #expect(rig.pusher.connection.connectionState == .connected)
    }

    @Test func anActivityTimeoutIsNotSoShortThatItFloodsTheServer() {
        let options = PusherClientOptions(activityTimeout: .leastNonzeroMagnitude)
        #expect(options.machineConfiguration.activityTimeout == .milliseconds(100))
    }

    @Test func optionsThatAreLeftOutAreTheMachinesOwn() {
        #expect(PusherClientOptions().machineConfiguration == ConnectionMachine.Configuration())
    }

    @Test func everyStepHasATimeOutOfItsOwn() {
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

    @Test func theAttemptsCanBeLimited() {
        let rig = ClientRig.connected()
        rig.pusher.connection.reconnectAttemptsMax = 0
        #expect(rig.pusher.connection.reconnectPolicy.maximumRetries == 0)
        rig.socket.drop()
        #expect(rig.recorder.errors.last?.kind == .attemptsExhausted)
        #expect(rig.pusher.connection.connectionState == .disconnected)
    }

    @available(*, deprecated, message: "It reads PusherSwift's names")
    @Test func eachOfPusherSwiftsTimeOutsIsSetByItself() {
        let connection = Pusher(key: "k").connection
        connection.activityTimeoutInterval = 7
        connection.pongResponseTimeoutInterval = 3
        #expect(connection.activityTimeoutInterval == 7)
        #expect(connection.pongResponseTimeoutInterval == 3)
        connection.activityTimeoutInterval = 8
        #expect(connection.pongResponseTimeoutInterval == 3)
    }

    // MARK: Settings of requests

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
    func requestsGoTheWayOfTheClient(options: PusherClientOptions, settings: [String]) {
        let session = RoutableSession()
        for environment in ([session, TrafficRecorder().recording(session)] as [any HTTPSession]).map({
            PusherEnvironment(httpSession: $0)
        }) {
            session.settings.withLock { $0 = [] }
            _ = Pusher(key: "k", options: options, environment: environment)
            #expect(session.settings.withLock { $0 } == settings)
        }
    }

    @Test func sessionsOfTheApplicationsAreLeftAsTheyAre() {
        let mock = MockSession(delivery: .immediate)
        let options = PusherClientOptions(proxy: .none)
        let pusher = Pusher(key: "k", options: options, environment: PusherEnvironment(httpSession: mock))
        #expect(pusher.connection.session as? MockSession === mock)
        let session = RoutableSession()
        pusher.connection.session = session
        #expect(session.settings.withLock { $0 } == [])
    }
}
