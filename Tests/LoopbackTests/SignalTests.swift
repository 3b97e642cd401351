#if os(Linux)
import Dispatch
import Foundation
import Glibc
import Processes
@testable import PusherChannels
import TestSupport
import Testing

// Tests in processes of their own came with Swift 6.2.
#if compiler(>=6.2)
/// SIGPIPE is none of ours: it ends nobody's process, and is what it was for everybody else. In processes of their own, as there
/// is one disposition for all, and what should not happen would end all tests.
@Suite struct SignalTests {
    @Test func aWriteToAPeerThatIsGoneEndsNoProcess() async {
        await #expect(processExitsWith: .success) { try await writeToAPeerThatIsGone(secure: false) }
    }

    @Test func aWriteThroughTLSToAPeerThatIsGoneEndsNoProcess() async {
        await #expect(processExitsWith: .success) {
            try await writeToAPeerThatIsGone(secure: true)
            // OpenSSL frees what it keeps for a thread at that thread's end, and can't if the process ends first: the leak checker would see it.
            try await withWatchdog {
                await pollTheSystem {
                    ProcessTables.threads(named: "pusher-lws") == 0 && ProcessTables.threads(named: "fault-proxy") == 0
                }
            }
        }
    }

    @Test func contextsThatAreMadeTogetherLeaveTheSignalAsItWas() async {
        await #expect(processExitsWith: .success) {
            // What one takes for the disposition before, another may just have changed; who puts it back last is chance.
            for _ in 0..<20 {
                signal(SIGPIPE, SIG_DFL)
                DispatchQueue.concurrentPerform(iterations: 50) { _ in
                    _ = EventLoop(owner: NetworkLoop(timeouts: .long))
                }
                var action = sigaction()
                sigaction(SIGPIPE, nil, &action)
                try #require(action.__sigaction_handler.sa_handler == nil)
            }
        }
    }
}

/// Writes to a socket of which the system knows that the peer has reset it: that raises the signal, if anything does.
private func writeToAPeerThatIsGone(secure: Bool) async throws {
    signal(SIGPIPE, SIG_DFL)
    let loop = NetworkLoop(timeouts: .long)
    let goOn = DispatchSemaphore(value: 0)
    let server = try RawServer(tls: secure ? .throwaway : nil) { connection in
        try connection.upgrade()
        try connection.send(.text("now"))
        goOn.wait()
        connection.resetOnClose()
    }
    let port = server.port
    let holder = Locked<SocketRig?>(nil)
    let wasGone = Locked(false)
    // On the loop's thread, which hears of the reset only after it has written.
    let rig = SocketRig(socket: NetworkWebSocket(loop: loop)) { event in
        guard event == .text("now"), let descriptor = ProcessTables.descriptors(connectedTo: port).first else { return }
        goOn.signal()
        let isGone = Readiness.gone.wait(for: descriptor)
        // The first write after a reset has this error, and only the next one raises the signal: this was the first.
        var (error, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size)
        wasGone.withLock { $0 = isGone && error == ECONNRESET }
        holder.withLock { $0 }?.socket.send("into the void")
    }
    holder.withLock { $0 = rig }
    try await withWatchdog {
        rig.socket.open(.toLoopback(port: port, secure: secure), attempt: first)
        #expect(await rig.events.untilClosed().last?.failure?.kind == .connectionLost)
        #expect(wasGone.withLock { $0 })
        // Not raised, and not blocked either: the threads that are made here would have it blocked, too.
        let mask = Note<(pending: Bool, blocked: Bool)>()
        loop.post { _ in
            var (pending, blocked) = (sigset_t(), sigset_t())
            sigpending(&pending)
            pthread_sigmask(SIG_BLOCK, nil, &blocked)
            mask.send((sigismember(&pending, SIGPIPE) == 1, sigismember(&blocked, SIGPIPE) == 1))
        }
        let (isPending, isBlocked) = try #require(await mask.next())
        #expect(!isPending && !isBlocked)
        holder.withLock { $0 = nil }
        await loop.shutdown()
    }
    withExtendedLifetime(server) {}
}
#endif
#endif
