import Dispatch
import Foundation
import TestSupport
import Testing

@testable import PusherChannels

@Suite(.timeLimit(.lost)) struct ReadingOrderTests {
    @Test func `One thread at a time passes on orders to read or pause, including any that come meanwhile`() {
        var order = ReadingOrder()
        func begin(_ wanted: Bool) -> Bool {
            order.wanted = wanted
            return order.begin()
        }
        var begins = [order.begin(), begin(false), begin(true)]
        var orders = [order.next()]
        begins.append(begin(false))
        orders += [order.next(), order.next()]
        begins.append(begin(true))
        #expect(begins == [false, true, false, false, true], "who is at it finds what comes meanwhile")
        #expect(orders == [true, false, nil])
    }

    @Test func `An order to read or pause for one connection attempt never reaches the next attempt`() {
        var order = ReadingOrder()
        order.forgetEarlier()
        #expect(order.begin() == false)
        order.wanted = false
        #expect(order.begin() == true)
        var orders = [order.next()]
        order.forgetEarlier()
        orders += [order.next(), order.next()]
        #expect(orders == [false, true, nil], "it is taken back by the thread that is at it")
    }

    /// Runs the body with a client whose stream is full while another thread of the client is busy in the application's code.
    private func withFullStream(
        pauseLimit: Duration = .seconds(5), _ body: (ClientRig, PusherStream<PusherEvent>) async throws -> Void
    ) async throws {
        let (isAsked, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let busy = AuthMethod.asking { reply in
            isAsked.signal()
            gate.wait()
            gate.signal()  // The gate stays open.
            reply(nil)
        }
        let rig = ClientRig.connected(auth: busy) { $0.pauseLimit = pauseLimit }
        let stream = rig.pusher.subscribe("news").events(buffering: StreamBuffering(limit: 3, overflow: .pauseThenDrop))
        let thread = AsyncStream<Void>.makeStream()
        Thread.detachNewThread {
            rig.pusher.subscribe("private-news")
            thread.continuation.finish()
        }
        isAsked.wait()
        rig.publish(0..<5)
        #expect(!rig.socket.isReading)
        try await body(rig, stream)
        gate.signal()
        for await _ in thread.stream {}
        #expect(rig.socket.isReading)
    }

    @Test func `A full stream stops the socket even while another thread runs the application's code`() async throws {
        try await withFullStream { rig, stream in
            let data = try await stream.data(of: 5)
            #expect(data == ["0", "1", "2", "3", "4"])
            #expect(rig.socket.isReading, "there is room again")
        }
    }

    /// With 20 seconds, the authorization's time-out is due first, but when its timer rings, no thread is free to act on it.
    @Test(arguments: [5, 20])
    func `The pause limit holds even while another thread runs the application's code`(seconds: Int) async throws {
        try await withFullStream(pauseLimit: .seconds(seconds)) { rig, stream in
            rig.scheduler.advance(by: .seconds(seconds))
            #expect(rig.socket.isReading && stream.dropped == 2)
        }
    }
}
