#if os(Linux)
import CLibwebsockets
import Dispatch
import Foundation
import Glibc
import Processes
@testable import PusherChannels
import Testing
import TestSupport

@Suite struct LoopTimerTests {
    private final class Log {
        var rung: [String] = []
    }

    @Test func `A timer that is set twice runs only the action set last`() {
        let (timers, log) = (LoopTimers(now: { LiveScheduler.now }), Log())
        let timer = timers.makeTimer()
        timer.set(after: .zero) { log.rung.append("before") }
        timer.set(after: .zero) { log.rung.append("after") }
        timers.runDue()
        #expect(log.rung == ["after"])
    }

    @Test func `A released timer doesn't run its action`() {
        let (timers, log) = (LoopTimers(now: { LiveScheduler.now }), Log())
        timers.makeTimer().set(after: .zero) { log.rung.append("nobody's") }
        timers.runDue()
        #expect(log.rung == [])
    }

    // MARK: Objects that an action retains

    // An action may hold the last reference to an object with its own timer.

    /// Returns a timer whose action holds the only reference to another timer, which is set, too.
    private func timerThatHoldsAnother(of timers: LoopTimers) -> LoopTimer {
        let (timer, inner) = (timers.makeTimer(), timers.makeTimer())
        inner.set(after: .seconds(60)) {}
        timer.set(after: .seconds(60)) { withExtendedLifetime(inner) {} }
        return timer
    }

    @Test func `A timer whose action holds the last reference to another timer can be canceled`() {
        let timers = LoopTimers(now: { LiveScheduler.now })
        timerThatHoldsAnother(of: timers).cancel()
        timers.runDue()
    }

    @Test func `A timer whose action holds the last reference to another timer can be set again`() {
        let timers = LoopTimers(now: { LiveScheduler.now })
        let timer = timerThatHoldsAnother(of: timers)
        timer.set(after: .seconds(60)) {}
        timer.cancel()
    }
}

/// No loop follows the machine's routes, whatever the version of libwebsockets. Other tests' loops start only between these looks.
@Suite(.serialized, .watchdog) struct RouteMonitorTests {
    private struct NoMonitor: Error {
        let number = errno
    }

    /// Opens a socket as libwebsockets 4.3 does for a context.
    private static func openMonitor() throws -> Int32 {
        let monitor = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue), Int32(NETLINK_ROUTE))
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        address.nl_groups = UInt32(RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE)
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(monitor, $0, socklen_t(MemoryLayout<sockaddr_nl>.size)) == 0
            }
        }
        guard isBound else { throw NoMonitor() }
        return monitor
    }

    @Test func `A route monitor opened for a libwebsockets context is replaced by a silent socket`() throws {
        try LibwebsocketsContext.ofTheProcess.withLock { _ in
            let monitor = try #require(RouteMonitors.removed { Result { try Self.openMonitor() } }).get()
            defer { close(monitor) }
            #expect(!RouteMonitors.followsRoutes(monitor))
            #expect(fcntl(monitor, F_GETFD) == FD_CLOEXEC)
            var poll = pollfd(fd: monitor, events: Int16(POLLIN), revents: 0)
            #expect(Glibc.poll(&poll, 1, 0) == 0)
        }
    }

    @Test func `A route monitor that another library opened is left alone`() throws {
        try LibwebsocketsContext.ofTheProcess.withLock { _ in
            let monitor = try Self.openMonitor()
            defer { close(monitor) }
            #expect(RouteMonitors.removed { true } == true)
            #expect(RouteMonitors.followsRoutes(monitor))
        }
    }

    @Test func `A process with a running loop has no socket that follows the machine's routes`() async throws {
        let server = try RawServer.replying()
        let loop = NetworkLoop(timeouts: .long)
        let rig = SocketRig(on: loop)
        await rig.connect(to: server)
        LibwebsocketsContext.ofTheProcess.withLock { _ in
            let descriptors = (0..<Int32(4096)).filter { fcntl($0, F_GETFD) >= 0 }
            #expect(descriptors.filter(RouteMonitors.followsRoutes) == [])
        }
        await loop.shutdown()
    }
}

/// Deadlines are met whatever other actions do, and whatever the process is short of.
@Suite(.watchdog) struct TimerThreadsTests {
    /// As with clients whose delegates block: there are more such actions than a libdispatch queue has threads for on a machine
    /// with two cores.
    @Test func `Timer actions that block hold up no other action`() async throws {
        let scheduler = LiveScheduler()
        let gate = DispatchSemaphore(value: 0)
        let (begun, done) = (Note<Void>(), Note<Int>())
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

    @Test func `With only one thread, timer actions run one after the other, by their deadlines`() async throws {
        let threads = FewThreads(allowing: 1)
        let timers = TimerThreads(startThread: threads.start)
        timers.prepare()
        let done = Note<Int>()
        for number in 1...10 { _ = timers.add({ done.send(number) }, at: LiveScheduler.now + .milliseconds(number)) }
        for number in 1...10 { #expect(await done.next() == number) }
    }

    @Test func `Without any thread, the first deadline waits until a thread can be started`() async throws {
        let threads = FewThreads()
        let timers = TimerThreads(startThread: threads.start)
        timers.prepare()
        let fired = Note<Void>()
        // The caller of `add` waits, so it runs on a thread that may block.
        try SystemThread.start("waits") { _ = timers.add({ fired.send(()) }, at: LiveScheduler.now) }
        for _ in 1...5 { await threads.refusals.next() }
        threads.allow(1)
        await fired.next()
    }

    @Test func `A timer action that is added while a thread fails to start still runs`() async throws {
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
        made.prepare()
        await fired.next()
    }

    @Test func `An idle timer thread doesn't keep its last action alive`() async throws {
        let timers = TimerThreads()
        let gone = Note<Void>()
        var held: AtItsEnd? = AtItsEnd { gone.send(()) }
        _ = timers.add({ [held] in withExtendedLifetime(held) {} }, at: LiveScheduler.now)
        held = nil
        await gone.next()
    }

    @Test func `A blocked timer action holds up no other once a shortage of threads is over`() async throws {
        let threads = FewThreads(allowing: 1)
        let timers = TimerThreads(startThread: threads.start)
        timers.prepare()
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

    @Test func `A canceled timer action doesn't run`() async throws {
        let scheduler = LiveScheduler()
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

#if compiler(>=6.2)
@Suite struct TimersWithoutDescriptorsTests {
    @Test func `A deadline fires even if the process has no descriptor left`() async {
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
