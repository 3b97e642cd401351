#if os(Linux)
import CLibwebsockets
import Foundation
import Glibc
import Processes
import Testing

@testable import PusherChannels

/// A timer runs only the action that was set last, if any.
@Suite struct LoopTimerTests {
    private final class Log {
        var rung: [String] = []
    }

    @Test func onlyWhatWasSetLastHappens() {
        let (timers, log) = (LoopTimers(now: { LiveScheduler.now }), Log())
        let timer = timers.makeTimer()
        timer.set(after: .zero) { log.rung.append("before") }
        timer.set(after: .zero) { log.rung.append("after") }
        timers.runDue()
        #expect(log.rung == ["after"])
    }

    @Test func aTimerThatGoesDoesNothing() {
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

    @Test func oneIsCancelled() {
        let timers = LoopTimers(now: { LiveScheduler.now })
        timerThatHoldsAnother(of: timers).cancel()
        timers.runDue()
    }

    @Test func oneIsSetAgain() {
        let timers = LoopTimers(now: { LiveScheduler.now })
        let timer = timerThatHoldsAnother(of: timers)
        timer.set(after: .seconds(60)) {}
        timer.cancel()
    }
}

/// No loop follows the machine's routes, whatever the version of libwebsockets. Other tests' loops start only between these looks.
@Suite(.serialized) struct RouteMonitorTests {
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

    @Test func aMonitorGivesWayToASilentSocket() throws {
        try LibwebsocketsContext.ofTheProcess.withLock { _ in
            let monitor = try #require(RouteMonitors.removed { Result { try Self.openMonitor() } }).get()
            defer { close(monitor) }
            #expect(!RouteMonitors.followsRoutes(monitor))
            #expect(fcntl(monitor, F_GETFD) == FD_CLOEXEC)
            var poll = pollfd(fd: monitor, events: Int16(POLLIN), revents: 0)
            #expect(Glibc.poll(&poll, 1, 0) == 0)
        }
    }

    @Test func theMonitorOfAnotherLibraryStays() throws {
        try LibwebsocketsContext.ofTheProcess.withLock { _ in
            let monitor = try Self.openMonitor()
            defer { close(monitor) }
            #expect(RouteMonitors.removed { true } == true)
            #expect(RouteMonitors.followsRoutes(monitor))
        }
    }

    @Test func aConnectionsLoopHasNone() async throws {
        let server = try RawServer.replying()
        try await withWatchdog {
            let loop = NetworkLoop(timeouts: .long)
            let rig = SocketRig(socket: NetworkWebSocket(loop: loop))
            rig.open(port: server.port)
            #expect(await rig.events.next() == .opened(ConnectionAttempt(1)))
            LibwebsocketsContext.ofTheProcess.withLock { _ in
                let descriptors = (0..<Int32(4096)).filter { fcntl($0, F_GETFD) >= 0 }
                #expect(descriptors.filter(RouteMonitors.followsRoutes) == [])
            }
            await loop.shutdown()
        }
    }
}
#endif
