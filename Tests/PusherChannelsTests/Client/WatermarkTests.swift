import Dispatch
import TestSupport
import Testing

@testable import PusherChannels

@Suite struct WatermarkTests {
    @Test func `Either limit of a watermark alone makes it over, and half of that limit makes it under`() {
        var watermark = Watermark(limit: 10, byteLimit: 100)
        /// Returns the state after elements, or bytes alone, were added or, if negative, removed.
        func state(_ count: Int, _ bytes: Int) -> Watermark.State {
            watermark.add(count: max(count, 0), bytes: max(bytes, 0))
            watermark.remove(count: max(-count, 0), bytes: max(-bytes, 0))
            return watermark.state
        }
        let byCount = [state(9, 99), state(0, -99), state(1, 0), state(-4, 0), state(-1, 0), state(-5, 0)]
        #expect(byCount == [.under, .under, .over, .over, .under, .under])
        let byBytes = [state(1, 100), state(0, -49), state(0, -1)]
        #expect(byBytes == [.over, .over, .under])
    }

    @Test func `A dropping watermark is over again after another limit's worth of elements`() {
        var watermark = Watermark(limit: 10, byteLimit: 100)
        watermark.add(count: 10, bytes: 0)
        watermark.pauseLimitReached()
        #expect(watermark.state == .dropping)
        for (count, state) in [(9, Watermark.State.dropping), (1, .over)] {
            watermark.add(count: count, bytes: 0)
            #expect(watermark.state == state)
        }
    }

    @Test func `A watermark pauses a second time and then overflows until it is under again`() {
        var watermark = Watermark(limit: 10, byteLimit: 100)
        for _ in 1...2 {
            for state in [Watermark.State.dropping, .overflowing] {
                watermark.add(count: 10, bytes: 0)
                #expect(watermark.state == .over)
                watermark.pauseLimitReached()
                #expect(watermark.state == state && watermark.drops)
            }
            watermark.add(count: 30, bytes: 300)
            #expect(watermark.state == .overflowing)
            watermark.remove(count: 50, bytes: 300)
            #expect(watermark.state == .under && !watermark.drops)
        }
    }

    @Test(arguments: [0, -1, .min]) func `A watermark's limits are at least one`(limit: Int) {
        var watermark = Watermark(limit: limit, byteLimit: limit)
        #expect(!watermark.isFull)
        watermark.add(bytes: 1)
        #expect(watermark.state == .over)
    }
}

@Suite(.timeLimit(.lost)) struct ByteBoundTests {
    /// An event of a megabyte, which a backend can publish only if the server's limits are higher than usual.
    private static let large = #"{"event":"n","channel":"news","data":"\#(String(repeating: "x", count: 1 << 20))"}"#

    private func publish(_ rig: ClientRig, _ count: Int) {
        for _ in 0..<count { rig.socket.serverSends(Self.large) }
    }

    @Test func `Waiting events of a blocked closure stop the socket's reading at the byte limit`() {
        let (queue, gate) = (DispatchQueue(label: "slow consumer"), DispatchSemaphore(value: 0))
        let rig = ClientRig.connected {
            ($0.delivery, $0.maximumMessageSize, $0.pauseLimit) = (.queue(queue), 2 << 20, .seconds(5))
        }
        rig.pusher.subscribe("news").bind(eventName: "n") { _ in }
        queue.sync {}
        queue.async { gate.wait() }
        publish(rig, 15)
        #expect(rig.socket.isReading, "fifteen megabytes and what is around them are less than sixteen")
        publish(rig, 20)
        #expect(!rig.socket.isReading)
        rig.scheduler.advance(by: .seconds(5))
        #expect(rig.pusher.connection.droppedEvents == 19, "what was not read until then")
        gate.signal()
        queue.sync {}
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
        #expect(rig.socket.isReading && stream.dropped == 7)
    }
}
