import Dispatch
import Foundation
import PusherChannels
import TestSupport
import Testing

/// Closures that are slower than the server.
@Suite(.timeLimit(.lost)) struct DeliveryBacklogTests {
    private let queue = DispatchQueue(label: "slow consumer")
    private let gate = DispatchSemaphore(value: 0)

    /// Creates a client whose delivery queue is blocked.
    private func rig(limit: Int) -> (ClientRig, Locked<[String?]>) {
        let rig = ClientRig.connected {
            $0.delivery = .queue(queue)
            $0.deliveryLimit = limit
            $0.pauseLimit = .seconds(5)
            $0.userAuthMethod = .inline(secret: "s", userData: #"{"id":"ann"}"#)
        }
        let heard = Locked<[String?]>([])
        rig.pusher.subscribe("news").bind(eventName: "n") { event in heard.withLock { $0.append(event.data) } }
        queue.sync {}
        queue.async { gate.wait() }
        return (rig, heard)
    }

    private func publish(_ rig: ClientRig, _ numbers: Range<Int>) {
        for number in numbers { rig.socket.publish(channel: "news", event: "n", data: "\(number)") }
    }

    @Test func theServerWaitsAndNothingIsLost() {
        let (rig, heard) = rig(limit: 100)
        publish(rig, 0..<20_000)
        #expect(!rig.socket.isReading)
        gate.signal()
        while heard.withLock({ $0.count }) < 20_000, !Task.isCancelled { queue.sync {} }
        #expect(heard.withLock { $0 } == (0..<20_000).map { "\($0)" })
        #expect(rig.pusher.connection.droppedEvents == 0)
    }

    @Test func pastTheTimeForItEventsAreDroppedWithAWord() async throws {
        let (rig, heard) = rig(limit: 100)
        publish(rig, 0..<1_000)
        rig.scheduler.advance(by: .seconds(5))
        #expect(rig.pusher.connection.droppedEvents == 900)
        rig.socket.drop()
        rig.scheduler.advance(by: .seconds(2))
        gate.signal()
        queue.sync {}
        #expect(heard.withLock { $0 } == (0..<100).map { "\($0)" })
        let notification = try await rig.recorder.next { if case .gap("news", _) = $0 { true } else { false } }
        guard case .gap(_, let since) = notification else { return }
        #expect(Date().timeIntervalSince(since) > 6.9, "since the server had to wait, seven virtual seconds ago")
        publish(rig, 1_000..<1_001)
        queue.sync {}
        #expect(heard.withLock { $0.last } == "1000")
        let states: [ConnectionState] = [.connecting, .connected, .reconnecting, .connecting, .connected]
        #expect(rig.recorder.states == states, "news of the connection is never dropped")
    }

    @Test func whatIsNeverDroppedMakesTheServerWaitAgain() {
        let (rig, _) = rig(limit: 100)
        rig.pusher.subscribe("presence-lobby")
        publish(rig, 0..<1_000)
        rig.scheduler.advance(by: .seconds(5))
        #expect(rig.socket.isReading)
        for number in 0..<100 {
            rig.socket.serverSendsEvent(
                "pusher_internal:member_added", channel: "presence-lobby", data: #"{"user_id":"\#(number)"}"#)
        }
        #expect(!rig.socket.isReading)
        gate.signal()
    }

    /// Otherwise what waits would grow for ever while the application's queue is blocked.
    @Test func evenTheNewsOfMembersIsDroppedInTheEnd() async throws {
        let (rig, _) = rig(limit: 100)
        let lobby = rig.pusher.subscribe("presence-lobby") as? PusherPresenceChannel
        func come(_ numbers: Range<Int>) {
            for number in numbers {
                rig.socket.serverSendsEvent(
                    "pusher_internal:member_added", channel: "presence-lobby", data: #"{"user_id":"\#(number)"}"#)
            }
        }
        publish(rig, 0..<100)
        rig.scheduler.advance(by: .seconds(5))
        come(0..<300)
        #expect(!rig.socket.isReading)
        rig.scheduler.advance(by: .seconds(5))
        #expect(rig.socket.isReading)
        come(300..<2_000)
        #expect(rig.socket.isReading)
        #expect(rig.pusher.connection.droppedEvents > 1_900)
        #expect(lobby?.members.count == 2_001, "the list of members is right all the same")
        gate.signal()
        try await rig.recorder.next { if case .gap("presence-lobby", _) = $0 { true } else { false } }
    }

    @Test func linesForADeveloperMakeTheServerWaitToo() {
        let (rig, _) = rig(limit: 100)
        for _ in 0..<200 { rig.socket.serverSendsEvent("n", channel: "nobody's") }
        #expect(!rig.socket.isReading)
        gate.signal()
        // The messages that were held back may stop the reading once more.
        while !rig.socket.isReading, !Task.isCancelled { queue.sync {} }
    }

    @Test func theUsersEventsAreDroppedNoLess() async throws {
        let (rig, _) = rig(limit: 100)
        rig.pusher.signIn { _ in }
        rig.socket.serverSends(#"{"event":"pusher:signin_success","data":{"user_data":"{\"id\":\"ann\"}"}}"#)
        for _ in 0..<1_000 { rig.socket.serverSends(##"{"event":"note","channel":"#server-to-user-ann","data":"hi"}"##) }
        rig.scheduler.advance(by: .seconds(5))
        #expect(rig.pusher.connection.droppedEvents >= 900)
        gate.signal()
        try await rig.recorder.next { if case .gap("#server-to-user-ann", _) = $0 { true } else { false } }
    }
}
