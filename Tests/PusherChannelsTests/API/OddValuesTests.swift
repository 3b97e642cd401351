import Foundation
import TestSupport
import Testing

@testable import PusherChannels

/// Each number that an application can set, with odd values of all kinds: nothing traps, and a client still ends well.
@Suite(.timeLimit(.lost)) struct OddValuesTests {
    /// A number in the options, and a closure that sets it to an odd value.
    struct Setting: CustomTestStringConvertible, Sendable {
        let type: String
        let name: String
        let set: @Sendable (inout PusherClientOptions, inout StreamBuffering, Int) -> Void
        let values: [String]

        var testDescription: String { "\(type).\(name)" }
    }

    static let integers = [0, 1, -1, 2, .min, .min + 1, .max, .max - 1]
    static let doubles: [Double] = [
        0, -0.0, -1, .leastNonzeroMagnitude, 1e-9, 9_223_372_036.9, 9_223_372_036_854_775_808, 1e300, .infinity, -.infinity, .nan,
        .greatestFiniteMagnitude,
    ]
    static let durations: [Duration] = [
        .zero, .nanoseconds(1), Duration(secondsComponent: 0, attosecondsComponent: 1), .seconds(-1), .seconds(Int64.max),
        .seconds(Int64.min), .milliseconds(9_223_372_036_900), .seconds(9_223_372_037), Duration(_high: .max, low: .max),
        Duration(_high: .min, low: 0),
    ]

    private typealias Path<Value> = any WritableKeyPath<PusherClientOptions, Value> & Sendable

    private static func option<Value: Sendable>(
        _ type: String, _ name: String, _ values: [Value], _ set: @escaping @Sendable (inout PusherClientOptions, Value) -> Void
    ) -> Setting {
        Setting(
            type: type, name: name, set: { options, _, index in set(&options, values[index]) }, values: values.map { "\($0)" })
    }

    private static func integer(_ type: String, _ name: String, _ path: Path<Int>) -> Setting {
        option(type, name, integers) { $0[keyPath: path] = $1 }
    }

    private static func optional(_ type: String, _ name: String, _ path: Path<Int?>) -> Setting {
        option(type, name, integers) { $0[keyPath: path] = $1 }
    }

    private static func duration(_ type: String, _ name: String, _ path: Path<Duration>) -> Setting {
        option(type, name, durations) { $0[keyPath: path] = $1 }
    }

    static let settings: [Setting] = [
        integer("PusherClientOptions", "port", \.port),
        integer("PusherClientOptions", "maximumMessageSize", \.maximumMessageSize),
        integer("PusherClientOptions", "maximumRedirects", \.maximumRedirects),
        option("PusherClientOptions", "activityTimeout", doubles) { $0.activityTimeout = $1 },
        integer("PusherClientOptions", "concurrentAuthorizations", \.concurrentAuthorizations),
        integer("PusherClientOptions", "deliveryLimit", \.deliveryLimit),
        integer("PusherClientOptions", "deliveryByteLimit", \.deliveryByteLimit),
        duration("PusherClientOptions", "pauseLimit", \.pauseLimit),
        duration("ConnectionTimeouts", "open", \.timeouts.open),
        duration("ConnectionTimeouts", "establish", \.timeouts.establish),
        duration("ConnectionTimeouts", "pong", \.timeouts.pong),
        duration("ConnectionTimeouts", "close", \.timeouts.close),
        duration("ConnectionTimeouts", "authorization", \.timeouts.authorization),
        duration("ConnectionTimeouts", "subscription", \.timeouts.subscription),
        duration("ReconnectPolicy", "initialDelay", \.reconnectPolicy.initialDelay),
        duration("ReconnectPolicy", "maximumDelay", \.reconnectPolicy.maximumDelay),
        optional("ReconnectPolicy", "maximumRetries", \.reconnectPolicy.maximumRetries),
        duration("ReconnectPolicy", "stableAfter", \.reconnectPolicy.stableAfter),
        optional("ProtocolLimits", "channelNameLength", \.limits.channelNameLength),
        optional("ProtocolLimits", "eventNameLength", \.limits.eventNameLength),
        optional("ProtocolLimits", "eventDataSize", \.limits.eventDataSize),
        optional("ProtocolLimits", "clientEventsPerSecond", \.limits.clientEventsPerSecond),
        optional("ProtocolLimits", "channelsPerEvent", \.limits.channelsPerEvent),
        optional("ProtocolLimits", "eventsPerBatch", \.limits.eventsPerBatch),
        optional("ProtocolLimits", "userIDLength", \.limits.userIDLength),
        optional("ProtocolLimits", "userInfoSize", \.limits.userInfoSize),
        optional("ProtocolLimits", "watchlistLength", \.limits.watchlistLength),
        Setting(
            type: "StreamBuffering", name: "limit", set: { _, buffering, index in buffering.limit = integers[index] },
            values: integers.map { "\($0)" }),
        Setting(
            type: "StreamBuffering", name: "byteLimit", set: { _, buffering, index in buffering.byteLimit = integers[index] },
            values: integers.map { "\($0)" }),
    ]

    @Test func `Every number in timeouts, policies, limits, and buffering is tested with odd values`() {
        let types: [(String, Any)] = [
            ("ConnectionTimeouts", ConnectionTimeouts()), ("ReconnectPolicy", ReconnectPolicy()),
            ("ProtocolLimits", ProtocolLimits()),
            ("StreamBuffering", StreamBuffering()),
        ]
        for (type, value) in types {
            let numbers = Mirror(reflecting: value).children.filter {
                $0.value is Int || $0.value is Int? || $0.value is Duration || $0.value is Double?
            }
            #expect(Set(numbers.compactMap(\.label)) == Set(Self.settings.filter { $0.type == type }.map(\.name)))
        }
    }

    @Test(arguments: settings) func `A client with any odd number in its options runs and can be disconnected`(_ setting: Setting)
    {
        for (index, value) in setting.values.enumerated() {
            for overflow in [StreamBuffering.Overflow.pauseThenEnd, .pauseThenDrop, .dropOldest, .dropNewest] {
                var options = PusherClientOptions(authMethod: .inline(secret: "s"))
                var buffering = StreamBuffering(limit: 3, byteLimit: 500, overflow: overflow)
                setting.set(&options, &buffering, index)
                live(options, buffering)
                #expect(Bool(true), "\(setting.testDescription) = \(value) came to its end")
            }
        }
    }

    /// Runs everything that a client does, including full queues and lost connections.
    private func live(_ options: PusherClientOptions, _ buffering: StreamBuffering) {
        let rig = ClientRig {
            let (delivery, logger) = ($0.delivery, $0.logger)
            $0 = options
            ($0.delivery, $0.logger) = (delivery, logger)
        }
        _ = rig.pusher.connection.options.webSocketRequest(to: options.servers[0], secure: false)
        let stream = rig.pusher.events(buffering: buffering)
        rig.pusher.connect()
        let room = rig.pusher.subscribe("private-room")
        for round in 0..<3 {
            _ = room.trigger(eventName: "client-a", data: ["x": round])
            for number in 0..<10 { rig.socket.publish(channel: "private-room", event: "e", data: "\(number)") }
            rig.scheduler.advance(by: .seconds(30))
            if round == 1 { rig.socket.serverCloses(code: 4200) } else { rig.socket.drop() }
            _ = rig.pusher.connection.timeToNextAttempt
            rig.pusher.connection.networkChanged()
        }
        rig.pusher.connection.reconnectPolicy = options.reconnectPolicy
        _ = rig.pusher.connection.maxReconnectGapInSeconds
        rig.pusher.disconnect()
        rig.scheduler.advance(by: .seconds(1))
        _ = stream.dropped
        #expect(![.connected, .connecting, .reconnecting].contains(rig.pusher.connection.connectionState))
    }

    @Test(arguments: integers, integers) func `A watermark with any limits is under them again when everything is removed`(
        limit: Int, byteLimit: Int
    ) {
        var watermark = Watermark(limit: limit, byteLimit: byteLimit)
        for _ in 0..<3 {
            watermark.add(count: 5, bytes: 600)
            watermark.pauseLimitReached()
        }
        watermark.remove(count: 15, bytes: 1_800)
        #expect(watermark.state == .under)
    }

    @Test(arguments: durations) func `Timers and reconnect delays accept any duration`(time: Duration) {
        let scheduler = LiveScheduler()
        scheduler.schedule(at: scheduler.now + time, label: "odd") {}.cancel()
        var random = SplitMix64(seed: 1)
        for other in Self.durations {
            let delay = ExponentialDelay(initial: time, maximum: other).delay(afterFailures: .max, using: &random)
            #expect(delay >= .zero)
        }
    }

    @Test(arguments: durations) func `A shutdown with any time limit disconnects the client`(limit: Duration) async {
        let rig = ClientRig.connected()
        await rig.pusher.shutdown(within: limit)
        #expect(rig.pusher.connection.connectionState == .disconnected)
    }

    @Test(arguments: [0, -1, 65_536, .min, .max]) func `The HTTP API throws an error for a port that isn't a TCP port`(port: Int)
        async
    {
        let api = PusherHTTPAPI(appID: "1", key: "k", secret: "s", host: .host("h"), port: port)
        let error = PusherError(.invalidRequest, message: "\(port) is not a TCP port")
        await #expect(throws: error) { try await api.trigger(channels: ["a"], eventName: "e", data: "1") }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300])
    func `The HTTP API throws an error if the clock shows an infinite, undefined, or absurd time`(seconds: Double) async {
        let clock = { @Sendable in Date(timeIntervalSince1970: seconds) }
        let api = PusherHTTPAPI(appID: "1", key: "k", secret: "s", environment: PusherEnvironment(wallClock: clock))
        await #expect(throws: PusherError.self) { try await api.trigger(channels: ["a"], eventName: "e", data: "1") }
    }

    @Test(arguments: [0, -1, .min])
    func `If the limit of client events per second is zero or less, every client event is refused`(perSecond: Int) throws {
        let rig = ClientRig.connected { $0.limits.clientEventsPerSecond = perSecond }
        let room = rig.pusher.subscribe("private-room")
        let refusal = try room.trigger(eventName: "client-a", data: ["x": 1]).refusal()
        #expect(refusal.message.contains("clientEventsPerSecond is \(perSecond)"))
    }
}
