import Foundation
import TestSupport
import Testing

@testable import PusherChannels

/// Each number that an application can set, with odd values of all kinds: nothing traps, and a client still ends well.
@Suite(.timeLimit(.lost)) struct OddValuesTests {
    @Test func `A buffer's limits are at least one, also if they are set later`() {
        var buffering = StreamBuffering()
        (buffering.limit, buffering.byteLimit) = (0, -1)
        #expect(buffering == StreamBuffering(limit: 1, byteLimit: 1))
    }

    struct Values {
        var options = PusherClientOptions(authMethod: .inline(secret: "s"))
        var buffering = StreamBuffering(limit: 3, byteLimit: 500)
    }

    /// A number in these, and a closure that sets it to an odd value.
    struct Setting: CustomTestStringConvertible, Sendable {
        let type: String
        let name: String
        let set: @Sendable (inout Values, Int) -> Void
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

    private typealias Path<Root, Value> = any WritableKeyPath<Root, Value> & Sendable

    private static func numbers<Part, Value: Sendable>(
        _ type: Part.Type, _ part: Path<Values, Part>, _ odd: [Value], _ paths: KeyValuePairs<String, Path<Part, Value>>
    ) -> [Setting] {
        paths.map { name, path in
            Setting(
                type: "\(type)", name: name, set: { $0[keyPath: part][keyPath: path] = odd[$1] },
                values: odd.map { "\($0)" })
        }
    }

    static let settings: [Setting] = {
        let limits = integers.map(Optional.some)
        var all = numbers(
            PusherClientOptions.self, \.options, integers,
            [
                "port": \.port, "maximumMessageSize": \.maximumMessageSize, "maximumRedirects": \.maximumRedirects,
                "concurrentAuthorizations": \.concurrentAuthorizations, "deliveryLimit": \.deliveryLimit,
                "deliveryByteLimit": \.deliveryByteLimit,
            ])
        all += numbers(PusherClientOptions.self, \.options, doubles.map(Optional.some), ["activityTimeout": \.activityTimeout])
        all += numbers(PusherClientOptions.self, \.options, durations, ["pauseLimit": \.pauseLimit])
        all += numbers(
            ConnectionTimeouts.self, \.options.timeouts, durations,
            [
                "open": \.open, "establish": \.establish, "pong": \.pong, "close": \.close, "authorization": \.authorization,
                "subscription": \.subscription,
            ])
        all += numbers(
            ReconnectPolicy.self, \.options.reconnectPolicy, durations,
            ["initialDelay": \.initialDelay, "maximumDelay": \.maximumDelay, "stableAfter": \.stableAfter])
        all += numbers(ReconnectPolicy.self, \.options.reconnectPolicy, limits, ["maximumRetries": \.maximumRetries])
        all += numbers(
            ProtocolLimits.self, \.options.limits, limits,
            [
                "channelNameLength": \.channelNameLength, "eventNameLength": \.eventNameLength, "eventDataSize": \.eventDataSize,
                "clientEventsPerSecond": \.clientEventsPerSecond, "channelsPerEvent": \.channelsPerEvent,
                "eventsPerBatch": \.eventsPerBatch, "userIDLength": \.userIDLength, "userInfoSize": \.userInfoSize,
                "watchlistLength": \.watchlistLength,
            ])
        return all + numbers(StreamBuffering.self, \.buffering, integers, ["limit": \.limit, "byteLimit": \.byteLimit])
    }()

    @Test func `Every number in timeouts, policies, limits, and buffering is tested with odd values`() {
        let values: [Any] = [ConnectionTimeouts(), ReconnectPolicy(), ProtocolLimits(), StreamBuffering()]
        for value in values {
            let numbers = Mirror(reflecting: value).children.filter {
                $0.value is Int || $0.value is Int? || $0.value is Duration || $0.value is Double?
            }
            let tested = Self.settings.filter { $0.type == "\(type(of: value))" }
            #expect(Set(numbers.compactMap(\.label)) == Set(tested.map(\.name)))
        }
    }

    @Test(arguments: settings)
    func `A client with any odd number in its options runs and can be disconnected`(_ setting: Setting) {
        let overflows = [StreamBuffering.Overflow.pauseThenEnd, .pauseThenDrop, .dropOldest, .dropNewest]
        let isAboutPauses = setting.type == "StreamBuffering" || setting.name == "pauseLimit"
        for (index, value) in setting.values.enumerated() {
            for overflow in isAboutPauses ? overflows : [overflows[index % overflows.count]] {
                var values = Values()
                values.buffering.overflow = overflow
                setting.set(&values, index)
                live(values.options, values.buffering)
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
            room.trigger(eventName: "client-a", data: ["x": round])
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

    @Test(arguments: integers, integers)
    func `A watermark with any limits is under them again when everything is removed`(limit: Int, byteLimit: Int) {
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

    @Test(arguments: [0, -1, 65_536, .min, .max])
    func `The HTTP API throws an error for a port that isn't a TCP port`(port: Int) async {
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
