import Dispatch
import TestSupport
import Testing

@testable import PusherChannels

private func errorFrame(_ message: String) -> String { #"{"event":"pusher:error","data":{"message":"\#(message)"}}"# }

@Suite(.timeLimit(.lost)) @MainActor struct MainActorDelegateTests {
    private final class Model: MainActorPusherDelegate {
        var heard: [String] = []
        let isOver: @Sendable () -> Void

        init(_ isOver: @escaping @Sendable () -> Void) { self.isOver = isOver }

        func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {
            heard.append(new.stringValue())
            if new == .disconnected { isOver() }
        }

        func subscribedToChannel(name: String) { heard.append("in \(name)") }
        func failedToSubscribeToChannel(name: String, error: PusherError) { heard.append("not \(name)") }
        func receivedError(error: PusherError) { heard.append(error.message) }
        func clientReported(error: PusherError) { heard.append("reported " + error.message) }
    }

    @Test(arguments: [DeliveryPolicy.queue(.main), .privateQueue, .immediate])
    func `A main-actor delegate is called on the main actor, in order, with any delivery policy`(delivery: DeliveryPolicy) async {
        let (over, continuation) = AsyncStream.makeStream(of: Void.self)
        let model = Model { continuation.finish() }
        let rig = ClientRig(auth: .noMethod) { $0.delivery = delivery }
        rig.pusher.mainActorDelegate = model
        #expect(rig.pusher.mainActorDelegate === model && rig.pusher.delegate == nil)
        rig.pusher.subscribe("private-room")
        rig.pusher.subscribe("news")
        await withCheckedContinuation { done in
            DispatchQueue.global().async {
                rig.pusher.connect()
                rig.socket.serverSends(errorFrame("no"))
                rig.socket.serverSends("what?")
                rig.pusher.disconnect()
                done.resume()
            }
        }
        for await _ in over {}
        // An application that alerts people to the server's errors alerts them to nothing that the client reports.
        let told = ["connecting", "connected", "not private-room", "in news", "no", "reported", "disconnecting", "disconnected"]
        #expect(model.heard.map { $0.hasPrefix("reported ") ? "reported" : $0 } == told)
    }

    @Test func `With delivery on the main queue, closures and the main-actor delegate share one order`() async {
        let (over, continuation) = AsyncStream.makeStream(of: Void.self)
        let model = Model { continuation.finish() }
        let rig = ClientRig { $0.delivery = .queue(.main) }
        rig.pusher.mainActorDelegate = model
        rig.pusher.subscribe("news").bind(eventName: "n") { _ in MainActor.assumeIsolated { model.heard.append("n") } }
        rig.pusher.connect()
        rig.publish(0..<1)
        rig.socket.serverSends(errorFrame("no"))
        rig.publish(0..<1)
        rig.pusher.disconnect()
        for await _ in over {}
        let expected = ["connected", "in news", "n", "no", "n", "disconnecting", "disconnected"]
        #expect(Array(model.heard.drop { $0 != "connected" }) == expected)
    }

    @Test func `A client holds its main-actor delegate weakly`() {
        let rig = ClientRig()
        var model: Model? = Model {}
        weak let gone = model
        rig.pusher.mainActorDelegate = model
        model = nil
        #expect(gone == nil && rig.pusher.mainActorDelegate == nil)
    }

    @Test func `Setting a delegate or a main-actor delegate replaces the other one`() {
        let rig = ClientRig()
        let (model, recorder) = (Model {}, RecordingDelegate())
        rig.pusher.mainActorDelegate = model
        rig.pusher.delegate = recorder
        #expect(rig.pusher.mainActorDelegate == nil && rig.pusher.delegate === recorder)
        rig.pusher.mainActorDelegate = model
        rig.pusher.connect()
        #expect(recorder.states.isEmpty)
    }

    private func letMainQueueRun() async {
        await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
    }

    @Test func `The socket stops reading while a main-actor delegate's calls wait for a busy main thread`() async {
        let model = Model {}
        let rig = ClientRig.connected { $0.deliveryLimit = 100 }
        rig.pusher.mainActorDelegate = model
        for number in 0..<150 { rig.socket.serverSends(errorFrame("\(number)")) }
        #expect(!rig.socket.isReading)
        await letMainQueueRun()
        while !rig.socket.isReading, !Task.isCancelled { await letMainQueueRun() }
        #expect(model.heard == (0..<150).map { "\($0)" })
    }

    @Test func `A replaced main-actor delegate receives no calls that are still on their way`() async {
        let (first, second) = (Model {}, Model {})
        let rig = ClientRig.connected()
        rig.pusher.mainActorDelegate = first
        rig.socket.serverSends(errorFrame("early"))
        rig.pusher.mainActorDelegate = second
        rig.socket.serverSends(errorFrame("late"))
        rig.pusher.mainActorDelegate = second
        await letMainQueueRun()
        #expect(first.heard.isEmpty && second.heard == ["late"])
    }

    @Test func `A client's deliveries are finished only after the main-actor delegate's last call`() async {
        let model = Model {}
        let rig = ClientRig.connected()
        rig.pusher.mainActorDelegate = model
        rig.pusher.disconnect()
        let isOver = Locked(false)
        rig.pusher.connection.core.afterDeliveries { isOver.withLock { $0 = true } }
        #expect(!isOver.withLock { $0 }, "its call waits for this thread")
        await letMainQueueRun()
        #expect(isOver.withLock { $0 })
        #expect(model.heard.last == "disconnected")
    }

    @Test func `A pool's main-actor delegate is told of all connections, including ones added later`() async {
        let (over, continuation) = AsyncStream.makeStream(of: Void.self)
        let model = Model { continuation.yield() }
        let rig = PoolRig(connections: 1)
        rig.pool.mainActorDelegate = model
        #expect(rig.pool.mainActorDelegate === model && rig.pool.delegate == nil)
        rig.pool.connect()
        rig.pool.resize(to: 2)
        rig.scheduler.advance(by: .seconds(1))
        rig.pool.disconnect()
        for await _ in over.prefix(2) {}
        #expect(model.heard.count { $0 == "connected" } == 2 && rig.recorder.states.isEmpty)
        rig.pool.delegate = rig.recorder
        #expect(rig.pool.mainActorDelegate == nil)
    }
}
