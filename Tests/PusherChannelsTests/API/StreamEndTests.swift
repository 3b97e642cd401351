import Dispatch
import TestSupport
import Testing

@testable import PusherChannels

@Suite(.timeLimit(.lost)) struct StreamEndTests {
    @Test func `If a client gives up, all of its streams throw the error`() async {
        let rig = ClientRig.connected()
        let news = rig.pusher.subscribe("news")
        let (all, states, events, updates) = (rig.pusher.events, rig.pusher.connectionStates, news.events, news.updates)
        rig.socket.serverCloses(code: 4001, reason: "gone")
        let errors = [await all.read().error, await events.read().error, await updates.read().error, await states.read().error]
        #expect(errors.map { $0?.code } == [4001, 4001, 4001, 4001])
    }

    @Test func `A stream outlives a lost connection and a disconnect that a connect follows`() async throws {
        let rig = ClientRig.connected()
        var iterator = rig.pusher.subscribe("news").events(named: "n").makeAsyncIterator()
        rig.socket.drop()
        rig.scheduler.advance(by: .seconds(60))
        rig.pusher.disconnect()
        rig.pusher.connect()
        rig.socket.publish(channel: "news", event: "n", data: "1")
        #expect(try await iterator.next()?.data == "1")
    }

    /// Both come in one read, so the retried subscription has already succeeded when a reader looks.
    @Test func `A temporary refusal that a success follows in the same read ends no stream`() async throws {
        let rig = ClientRig.unanswered()
        let channel = rig.pusher.subscribe("news")
        var iterator = channel.events(named: "n").makeAsyncIterator()
        rig.read([
            #"{"event":"pusher:subscription_error","channel":"news","data":{"type":"ServerError","status":503,"error":"busy"}}"#,
            #"{"event":"pusher_internal:subscription_succeeded","channel":"news","data":"{}"}"#,
            #"{"event":"n","channel":"news","data":"1"}"#,
        ])
        #expect(try await iterator.next()?.data == "1")
    }

    @Test func `A final refusal ends only the channel's own streams, and a temporary one ends none`() async throws {
        let rig = ClientRig(auth: .endpoint(authEndpoint: "https://example.com/auth"))
        rig.session.stub("POST https://example.com/auth", .http(503), .http(403))
        let channel = rig.pusher.subscribe("private-orders")
        let (events, updates) = (channel.events, channel.updates)
        var other = rig.pusher.subscribe("news").events(named: "n").makeAsyncIterator()
        rig.pusher.connect()
        rig.scheduler.advance(by: .seconds(60))
        #expect(await events.read().error?.code == 403)
        let (failures, error) = await updates.read()
        #expect(error?.code == 403)
        #expect(failures.map(\.word) == ["failed 503"], "what is tried again is told, and ends nothing")
        rig.publish(1..<2)
        #expect(try await other.next()?.data == "1")
    }

    @Test func `A stream made after its channel was refused throws the refusal at once`() async {
        let rig = ClientRig.connected(server: .checking(secret: "other"))
        let channel = rig.pusher.subscribe("private-orders")
        #expect(channel.hasFailed)
        #expect(await channel.events.read().error?.kind == .subscriptionRefused)
        #expect(await channel.updates.read().error?.kind == .subscriptionRefused)
        #expect(await rig.pusher.subscribe("no such name").events.read().error?.kind == .invalidRequest)
    }

    @Test func `Unsubscribing a channel ends its streams without an error after the events that came`() async throws {
        let rig = ClientRig.connected()
        let channel = rig.pusher.subscribe("news")
        let (events, updates, all) = (channel.events(named: "n"), channel.updates, rig.pusher.events)
        rig.publish(1..<2)
        rig.pusher.unsubscribe("news")
        let (first, second, third) = (await events.read(), await updates.read(), await channel.events.read())
        #expect([first.elements.count, second.elements.count] == [1, 1], "what came before can be read")
        #expect(third.elements.isEmpty, "nor does one wait that is made of an idle handle")
        #expect(first.error == nil && second.error == nil && third.error == nil)
        #expect(!rig.pusher.subscribe("news").hasFailed)
        rig.publish(2..<3)
        #expect(try await all.data(of: 3) == ["1", "{}", "2"])
    }
}

@Suite(.timeLimit(.lost)) struct CancelledReaderTests {
    private func rig() -> ClientRig {
        let rig = ClientRig.connected()
        rig.pusher.subscribe("news")
        return rig
    }

    @Test func `A canceled reader ends even if events keep coming`() async throws {
        let rig = rig()
        let stream = rig.pusher.events
        rig.publish(0..<1)
        let reading = Task {
            var count = 0
            for try await _ in stream {
                count += 1
                if count == 3 { withUnsafeCurrentTask { $0?.cancel() } }
                if count == 1000 { break }
                rig.publish(count..<count + 1)
            }
            return count
        }
        #expect(try await reading.value == 4, "what waited when it was cancelled is read")
    }

    @Test(arguments: [(StreamBuffering.Overflow.pauseThenEnd, 1), (.dropOldest, 1), (.pauseThenEnd, 2)])
    func `A canceled reader still gets what waited at the time`(overflow: StreamBuffering.Overflow, iterators: Int) async throws {
        let rig = rig()
        let stream = rig.pusher.events(buffering: StreamBuffering(overflow: overflow))
        let others = (1..<iterators).map { _ in stream.makeAsyncIterator() }
        rig.publish(0..<5)
        let reading = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await stream.elements().count
        }
        #expect(try await reading.value == 5)
        withExtendedLifetime(others) {}
    }

    /// An executor with its own threads: in the shared pool, thousands of tasks would wait behind all other tests.
    private final class Threads: TaskExecutor {
        private let queue = DispatchQueue(label: "readers", attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// The cancellation may come at any time, even after the reader has checked for it and before it waits.
    @Test func `A reader that is canceled just as it begins to wait doesn't hang`() async throws {
        let rig = rig()
        let streams = (0..<8).map { _ in rig.pusher.events }
        let threads = Threads()
        await withTaskExecutorPreference(threads) {
            for round in 0..<500 {
                await withThrowingTaskGroup(of: Void.self) { group in
                    for stream in streams { group.addTask { for try await _ in stream {} } }
                    // Delays the cancellation by the time that a few tasks take to run.
                    for _ in 0..<round % 8 { await Task(executorPreference: threads) {}.value }
                    group.cancelAll()
                }
            }
        }
    }
}
