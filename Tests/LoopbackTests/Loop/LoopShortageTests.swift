#if os(Linux)
import Foundation
import FoundationNetworking
import Glibc
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// A loop that can't start reports an error to the callers that wanted it; the next caller can start it.
@Suite(.watchdog) struct LoopShortageTests {
    private let failure = TransportError(.unreachable, "Can't start what serves connections: resource temporarily unavailable")

    @Test func `Attempts and requests fail while the loop's thread can't start; a later attempt opens`() async throws {
        let server = try RawServer.replying()
        let threads = FewThreads()
        let loop = NetworkLoop(timeouts: .long, startThread: threads.start)
        let rig = SocketRig(on: loop)
        for attempt in 1...3 {
            rig.open(port: server.port, attempt: attempt)
            #expect(await rig.events.next() == .closed(.failed(failure), ConnectionAttempt(attempt)))
            #expect(!loop.isRunning)
        }
        let session = HTTPRig(NetworkHTTPSession(proxy: .none, loop: loop))
        let refused = try await session.failure(HTTPRig.request(port: server.port))
        #expect(refused == HTTPFailure(.cannotConnectToHost, failure))
        await loop.shutdown()
        threads.allow(1)
        rig.open(port: server.port, attempt: 4)
        #expect(await rig.events.next() == .opened(ConnectionAttempt(4)))
        await loop.shutdown()
    }

    @Test func `A delegate that is told that a loop can't start may open again within that call`() async throws {
        let server = try RawServer.replying()
        let threads = FewThreads()
        let loop = NetworkLoop(timeouts: .long, startThread: threads.start)
        let rig = SocketRig(
            on: loop,
            reacting: { socket, event in
                guard case .closed(_, let attempt) = event, attempt.number < 10 else { return }
                if attempt.number == 9 { threads.allow(1) }
                socket.open(.toLoopback(port: server.port, secure: false), attempt: attempt.next)
            })
        rig.open(port: server.port)
        for attempt in 1...9 { #expect(await rig.events.next() == .closed(.failed(failure), ConnectionAttempt(attempt))) }
        #expect(await rig.events.next() == .opened(ConnectionAttempt(10)))
        await loop.shutdown()
    }
}

#if compiler(>=6.2)
@Suite struct DescriptorShortageTests {
    /// Each poller needs all available descriptors.
    @Test func `A released poller leaves no descriptor open`() async {
        await #expect(processExitsWith: .success) {
            let shortage = DescriptorShortage(leaving: 2)
            for _ in 0..<3 {
                let poller = try SocketPoller()
                // The watcher owns the descriptor, so the poller doesn't close it.
                close(poller.descriptor)
            }
            shortage.end()
        }
    }

    /// Leaves from none to more than an attempt needs: for the poll, the wake-ups and the socket.
    @Test func `After an attempt that lacked descriptors, the next attempt opens and exchanges messages`() async {
        await #expect(processExitsWith: .success) {
            let (refusing, descriptor) = try RawServer.refusingPort()
            try await withWatchdog {
                for count in 0...8 {
                    let loop = NetworkLoop(timeouts: .long)
                    let rig = SocketRig(on: loop)
                    let shortage = DescriptorShortage(leaving: count)
                    rig.open(port: refusing)
                    let failure = await rig.events.next()?.failure
                    shortage.end()
                    try #require(failure?.kind == .unreachable || failure?.kind == .connectionRefused)
                    // Started only now, because a server that waits for a connection takes a descriptor for it.
                    let server = try RawServer.echo()
                    rig.open(port: server.port, attempt: 2)
                    try #require(await rig.events.next() == .opened(second))
                    // A loop that isn't woken looks again only after half a minute.
                    for number in 1...20 {
                        rig.socket.send("\(number)")
                        try #require(await rig.events.next() == .text("\(number)"))
                    }
                    await loop.shutdown()
                    withExtendedLifetime(server) {}
                }
            }
            close(descriptor)
        }
    }
}
#endif
#endif
