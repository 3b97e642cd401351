#if os(Linux)
import Dispatch
import Glibc
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// Deadlines are met whatever other actions do, and whatever the process is short of.
@Suite struct TimerThreadsTests {
    /// As with clients whose delegates block: there are more such actions than a libdispatch queue has threads for on a machine
    /// with two cores.
    @Test func actionsThatBlockHoldUpNoOther() async throws {
        let scheduler = LiveScheduler()
        let gate = DispatchSemaphore(value: 0)
        let (begun, done) = (Note<Void>(), Note<Int>())
        try await withWatchdog {
            for number in 1...40 {
                _ = scheduler.schedule(at: scheduler.now, label: "blocked") {
                    begun.send(())
                    gate.wait()
                    done.send(number)
                }
            }
            for _ in 1...40 { await begun.next() }
            _ = scheduler.schedule(at: scheduler.now + .milliseconds(1), label: "free") { done.send(0) }
            #expect(await done.next() == 0)
            for _ in 1...40 { gate.signal() }
            for _ in 1...40 { _ = await done.next() }
        }
    }

    @Test func withOneThreadActionsWaitForEachOther() async throws {
        let threads = FewThreads()
        threads.allow(1)
        let timers = TimerThreads(startThread: threads.start)
        timers.prepare()
        try await withWatchdog {
            let done = Note<Int>()
            for number in 1...10 {
                _ = timers.add({ done.send(number) }, at: LiveScheduler.now + .milliseconds(number))
            }
            for number in 1...10 { #expect(await done.next() == number) }
        }
    }

    @Test func withoutAThreadTheFirstDeadlineWaitsForOne() async throws {
        let threads = FewThreads()
        let timers = TimerThreads(startThread: threads.start)
        timers.prepare()
        try await withWatchdog {
            let fired = Note<Void>()
            // The caller of `add` waits, so it runs on a thread that may block.
            try SystemThread.start("waits") {
                _ = timers.add({ fired.send(()) }, at: LiveScheduler.now)
            }
            for _ in 1...5 { await threads.refusals.next() }
            threads.allow(1)
            await fired.next()
        }
    }

    /// The action is added while a call of `prepare()` fails to start a thread.
    @Test func whatIsAddedWhileThereIsNoThreadFires() async throws {
        let timers = Locked<TimerThreads?>(nil)
        let (tries, fired) = (Locked(0), Note<Void>())
        let made = TimerThreads { name, body throws(SystemError) in
            let number = tries.withLock { tries in
                tries += 1
                return tries
            }
            guard number == 1 else { return try SystemThread.start(name, body) }
            _ = timers.withLock(\.self)?.add({ fired.send(()) }, at: LiveScheduler.now)
            throw SystemError(number: EAGAIN)
        }
        timers.withLock { $0 = made }
        defer { timers.withLock { $0 = nil } }
        try await withWatchdog {
            made.prepare()
            await fired.next()
        }
    }

    @Test func aThreadThatHasNothingToDoKeepsNothingOfTheLastAction() async throws {
        final class Held: Sendable {
            let gone: Note<Void>
            init(gone: Note<Void>) { self.gone = gone }
            deinit { gone.send(()) }
        }
        let timers = TimerThreads()
        try await withWatchdog {
            let gone = Note<Void>()
            var held: Held? = Held(gone: gone)
            _ = timers.add({ [held] in withExtendedLifetime(held) {} }, at: LiveScheduler.now)
            held = nil
            await gone.next()
        }
    }

    @Test func aShortageOfThreadsThatIsOverCountsNoMore() async throws {
        let threads = FewThreads()
        threads.allow(1)
        let timers = TimerThreads(startThread: threads.start)
        timers.prepare()
        try await withWatchdog {
            let (done, gate) = (Note<Int>(), DispatchSemaphore(value: 0))
            // As many actions as may run at a time, each of which requested another thread to watch.
            for number in 1...TimerThreads.limit { _ = timers.add({ done.send(number) }, at: LiveScheduler.now) }
            for _ in 1...TimerThreads.limit { _ = await done.next() }
            threads.allow(1)
            _ = timers.add({ gate.wait() }, at: LiveScheduler.now)
            _ = timers.add(
                {
                    done.send(0)
                    gate.signal()
                }, at: LiveScheduler.now + .milliseconds(1))
            #expect(await done.next() == 0)
        }
    }

    @Test func anActionThatIsTakenBackDoesNotRun() async throws {
        let scheduler = LiveScheduler()
        try await withWatchdog {
            // On a busy machine, the deadline may pass before all actions are cancelled.
            for delay in sequence(first: Duration.milliseconds(20), next: { $0 * 4 }) {
                let done = Note<Int>()
                let soon = scheduler.now + delay
                let taken = (1...100).map { number in scheduler.schedule(at: soon, label: "") { done.send(number) } }
                _ = scheduler.schedule(at: soon, label: "") { done.send(0) }
                for action in taken { action.cancel() }
                guard scheduler.now < soon else { continue }
                #expect(await done.next() == 0)
                return
            }
        }
    }
}

#if compiler(>=6.2)
@Suite struct TimersWithoutDescriptorsTests {
    @Test func aDeadlineTakesNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            let shortage = DescriptorShortage(leaving: 0)
            let scheduler = LiveScheduler()
            let fired = DispatchSemaphore(value: 0)
            _ = scheduler.schedule(at: scheduler.now + .milliseconds(1), label: "") { fired.signal() }
            try #require(fired.wait(timeout: .now() + .seconds(Patience.seconds)) == .success)
            shortage.end()
        }
    }
}
#endif
#endif
