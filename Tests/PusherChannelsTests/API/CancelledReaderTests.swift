import Dispatch
import PusherChannels
import TestSupport
import Testing

/// Readers of streams whose tasks are cancelled.
@Suite(.timeLimit(.lost)) struct CancelledReaderTests {
    private func rig() -> ClientRig {
        let rig = ClientRig.connected()
        rig.pusher.subscribe("news")
        return rig
    }

    @Test func aCancelledReaderIsLetGo() async throws {
        let rig = rig()
        let stream = rig.pusher.events
        let reading = Task { try await stream.data(of: 1) }
        reading.cancel()
        #expect(try await reading.value == [])
        rig.publish(0..<1)
        #expect(try await stream.data(of: 1) == ["0"], "the stream itself goes on")
    }

    /// This holds even if there is always something to read.
    @Test func soIsOneOfABusyStream() async throws {
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

    /// This holds however many elements a reader takes at a time.
    @Test(arguments: [(StreamBuffering.Overflow.pauseThenEnd, 1), (.dropOldest, 1), (.pauseThenEnd, 2)])
    func whatWaitedWhenItWasCancelledIsRead(overflow: StreamBuffering.Overflow, iterators: Int) async throws {
        let rig = rig()
        let stream = rig.pusher.events(buffering: StreamBuffering(overflow: overflow))
        let others = (1..<iterators).map { _ in stream.makeAsyncIterator() }
        rig.publish(0..<5)
        let reading = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var count = 0
            for try await _ in stream { count += 1 }
            return count
        }
        #expect(try await reading.value == 5)
        withExtendedLifetime(others) {}
    }

    #if !canImport(Darwin)  // On Apple platforms, the executor needs a newer system than the package does.

    /// An executor with its own threads: in the shared pool, thousands of tasks would wait behind all other tests.
    private final class Threads: TaskExecutor {
        private let queue = DispatchQueue(label: "readers", attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// The cancellation may come at any time, even after the reader has checked for it and before it waits.
    @Test func aReaderThatIsCancelledAsItBeginsToWaitIsLetGo() async throws {
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

    #endif
}
