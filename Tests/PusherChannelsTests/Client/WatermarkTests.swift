import Dispatch
import Foundation
import Processes
import TestSupport
import Testing

@testable import PusherChannels

/// The number of waiting elements and bytes.
@Suite struct WatermarkTests {
    @Test func `A watermark is under again only when half of both limits is free`() {
        var watermark = Watermark(limit: 10, byteLimit: 100)
        watermark.add(count: 10, bytes: 60)
        watermark.remove(count: 4, bytes: 0)
        #expect(watermark.state == .over)
        watermark.remove(count: 1, bytes: 0)
        #expect(watermark.state == .over, "sixty bytes are more than half")
        watermark.remove(count: 1, bytes: 10)
        #expect(watermark.state == .under)
    }

    @Test func `Either limit of a watermark alone makes it over, and half of that limit makes it under`() {
        var elements = Watermark(limit: 10, byteLimit: 100)
        elements.add(count: 9, bytes: 99)
        #expect(elements.state == .under)
        elements.remove(count: 0, bytes: 99)
        elements.add(count: 1, bytes: 0)
        #expect(elements.state == .over)
        elements.remove(count: 4, bytes: 0)
        #expect(elements.state == .over)
        elements.remove(count: 1, bytes: 0)
        #expect(elements.state == .under)
        var bytes = Watermark(limit: 10, byteLimit: 100)
        bytes.add(count: 1, bytes: 100)
        #expect(bytes.state == .over)
        bytes.remove(count: 0, bytes: 49)
        #expect(bytes.state == .over)
        bytes.remove(count: 0, bytes: 1)
        #expect(bytes.state == .under)
    }

    @Test func `A dropping watermark is over again after another limit's worth of elements`() {
        var watermark = Watermark(limit: 10, byteLimit: 100)
        watermark.add(count: 10, bytes: 0)
        watermark.pauseLimitReached()
        #expect(watermark.state == .dropping)
        watermark.add(count: 9, bytes: 0)
        #expect(watermark.state == .dropping)
        watermark.add(count: 1, bytes: 0)
        #expect(watermark.state == .over)
    }

    @Test func `A watermark pauses a second time and then overflows until it is under again`() {
        var watermark = Watermark(limit: 10, byteLimit: 100)
        for _ in 1...2 {
            for state in [Watermark.State.dropping, .overflowing] {
                watermark.add(count: 10, bytes: 0)
                #expect(watermark.state == .over)
                watermark.pauseLimitReached()
                #expect(watermark.state == state)
                #expect(watermark.drops)
            }
            watermark.add(count: 30, bytes: 300)
            #expect(watermark.state == .overflowing)
            watermark.remove(count: 50, bytes: 300)
            #expect(watermark.state == .under)
            #expect(!watermark.drops)
        }
    }

    @Test(arguments: [0, -1, .min]) func `A watermark's limits are at least one`(limit: Int) {
        var watermark = Watermark(limit: limit, byteLimit: limit)
        #expect(!watermark.isFull)
        watermark.add(bytes: 1)
        #expect(watermark.state == .over)
    }
}

/// Everything that waits also has a limit in bytes.
@Suite(.timeLimit(.lost)) struct ByteBoundTests {
    /// An event of a megabyte, which a backend can publish only if the server's limits are higher than usual.
    private static let large = #"{"event":"n","channel":"news","data":"\#(String(repeating: "x", count: 1 << 20))"}"#

    private func publish(_ rig: ClientRig, _ count: Int) {
        for _ in 0..<count { rig.socket.serverSends(Self.large) }
    }

    @Test func `Waiting events of a blocked closure stop the socket's reading at the byte limit`() async throws {
        let queue = DispatchQueue(label: "slow consumer")
        let gate = DispatchSemaphore(value: 0)
        let rig = ClientRig.connected {
            $0.delivery = .queue(queue)
            $0.maximumMessageSize = 2 << 20
            $0.pauseLimit = .seconds(5)
        }
        let heard = Locked(0)
        rig.pusher.subscribe("news").bind(eventName: "n") { _ in heard.withLock { $0 += 1 } }
        queue.sync {}
        queue.async { gate.wait() }
        publish(rig, 15)
        #expect(rig.socket.isReading, "fifteen megabytes and what is around them are less than sixteen")
        publish(rig, 20)
        #expect(!rig.socket.isReading)
        #expect(rig.pusher.connection.droppedEvents == 0)
        rig.scheduler.advance(by: .seconds(5))
        #expect(rig.pusher.connection.droppedEvents == 19, "what was not read until then")
        gate.signal()
        queue.sync {}
        #expect(heard.withLock { $0 } == 16)
        try await rig.recorder.next { if case .gap("news", _) = $0 { true } else { false } }
    }

    @Test(arguments: [#"{"user_id":"u$","user_info":"%"}"#, #"{"user_id":"$%"}"#])
    func `A member's id and information count toward a stream's byte limit`(form: String) {
        let rig = ClientRig.connected { $0.maximumMessageSize = 2 << 20 }
        let stream = rig.pusher.subscribe("presence-room").updates(buffering: StreamBuffering(byteLimit: 5 << 19))
        let form = form.replacing("%", with: String(repeating: "x", count: 1 << 20))
        for number in 1...3 {
            #expect(rig.socket.isReading, "\(number)")
            let member = form.replacing("$", with: "\(number)")
            rig.socket.serverSends(#"{"event":"pusher_internal:member_added","channel":"presence-room","data":\#(member)}"#)
        }
        #expect(!rig.socket.isReading)
        withExtendedLifetime(stream) {}
    }

    @Test func `A stream at its byte limit drops the oldest events to make room`() async {
        let rig = ClientRig.connected()
        let buffering = StreamBuffering(limit: 1_000, byteLimit: 3 << 20, overflow: .dropOldest)
        let stream = rig.pusher.subscribe("news").events(buffering: buffering)
        publish(rig, 10)
        #expect(rig.socket.isReading)
        #expect(stream.dropped == 7)
    }
}

/// A run of combining marks is one character to Swift; comparing or hashing it as a `String` takes quadratic time.
@Suite struct CombiningMarksTests {
    /// The places where a server may put any text, marked with percent signs.
    static let places = [
        #"{"event":"%","channel":"room","data":"{}"}"#,
        #"{"event":"%","data":"{}"}"#,
        #"{"event":"pusher:%","channel":"room","data":"{}"}"#,
        #"{"event":"n","channel":"%","data":"{}"}"#,
        #"{"event":"n","channel":"room","data":"%"}"#,
        #"{"event":"n","channel":"room","data":"{}","user_id":"%"}"#,
        #"{"event":"n","channel":"room","data":"{}","%":"%"}"#,
        #"{"event":"pusher:error","data":{"code":4301,"message":"%","%":1}}"#,
        #"{"event":"pusher:subscription_error","channel":"%","data":{"error":"%"}}"#,
        #"{"event":"pusher_internal:subscription_succeeded","channel":"presence-room","data":{"presence":{"ids":["%"]}}}"#,
        #"{"event":"pusher_internal:subscription_succeeded","channel":"presence-room","data":{"presence":{"hash":{"%":{"%":1}}}}}"#,
        #"{"event":"pusher_internal:member_added","channel":"presence-room","data":{"user_id":"%","user_info":{"%":"%"}}}"#,
        #"{"event":"pusher_internal:member_removed","channel":"presence-room","data":{"user_id":"%"}}"#,
        #"{"event":"pusher_internal:watchlist_events","data":{"events":[{"name":"%","user_ids":["%"]}]}}"#,
    ]

    private func client(_ change: (inout PusherClientOptions) -> Void = { _ in }) -> ClientRig {
        let rig = ClientRig.connected(change)
        rig.pusher.subscribe("room").bind(eventName: "n") { _ in }
        rig.pusher.bind { _ in }
        rig.pusher.connection.userDataFetcher = { PusherPresenceChannelMember(userID: "me") }
        rig.pusher.subscribe("presence-room")
        rig.pusher.user.watchlist.bind(eventName: "online") { _ in }
        return rig
    }

    /// Returns the lowest of three measurements, in seconds of this thread's processor time, which excludes other work on the
    /// machine.
    private func cost(_ place: String, marks: Int) -> Double {
        let text = "e" + String(repeating: "\u{301}", count: marks)
        return cost(of: place.components(separatedBy: "%").joined(separator: text), to: { client() })
    }

    private func cost(of message: String, to client: () -> ClientRig) -> Double {
        (0..<3).map { _ in
            let rig = client()
            let began = ThreadTime.seconds()
            rig.socket.serverSends(message)
            return ThreadTime.seconds() - began
        }.min() ?? 0
    }

    // Proves P2.10.
    @Test(arguments: places) func `A message of combining marks costs time in line with its length, not with its square`(
        place: String
    ) {
        let (short, long) = (cost(place, marks: 12_500), cost(place, marks: 200_000))
        #expect(long < 64 * short, "sixteen times as long; the square of it would be 256")
    }

    /// A flag consists of two code points, and Swift searches for the first one of a run.
    @Test(arguments: ["\u{301}", "\u{1F1E6}"])
    func `Logging a malformed message of marks or flags costs time in line with its length`(unit: String) {
        let logging = { client { $0.logger = LineRecorder.logger(Locked([])) } }
        let (short, long) = (5_000, 80_000)
        let costs = [short, long].map { cost(of: String(repeating: unit, count: $0), to: logging) }
        #expect(costs[1] < 64 * costs[0])
    }
}
