#if os(Linux)
import CLibwebsockets
import Dispatch
import Foundation
import Glibc
import Processes
@testable import PusherChannels
import TestSupport
import Testing

// Tests that run in their own processes require Swift 6.2.
#if compiler(>=6.2)
/// The library leaves SIGPIPE alone: the signal never ends the process, and its disposition stays the same for other code. The
/// tests run in their own processes, because the disposition is the whole process's and a failure would end all tests.
@Suite struct SignalTests {
    @Test func `A write to a connection that the peer has reset raises no SIGPIPE`() async {
        await #expect(processExitsWith: .success) { try await writeToAPeerThatIsGone(secure: false) }
    }

    @Test func `A write through TLS to a connection that the peer has reset raises no SIGPIPE`() async {
        await #expect(processExitsWith: .success) {
            try await writeToAPeerThatIsGone(secure: true)
            // OpenSSL frees a thread's data when the thread ends. If the process ended first, the leak checker would report that
            // data.
            try await withWatchdog {
                await pollTheSystem {
                    ProcessTables.threads(named: "pusher-lws") == 0 && ProcessTables.threads(named: "fault-proxy") == 0
                }
            }
        }
    }

    @Test func `Loops that are created at the same time leave SIGPIPE's disposition as it was`() async {
        await #expect(processExitsWith: .success) {
            // Repeated, because a race shows only by chance: one context may save a disposition that another has just changed,
            // and be the last to restore it.
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

/// Writes to a socket after the system has learned of the peer's reset: if any write raises the signal, this one does.
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
    let wasGone = Locked(false)
    // Runs on the loop's thread, which learns of the reset only after the write.
    let rig = SocketRig(
        on: loop,
        reacting: { socket, event in
            guard event == .text("now"), let descriptor = ProcessTables.descriptors(connectedTo: port).first else { return }
            goOn.signal()
            let isGone = Readiness.gone.wait(for: descriptor)
            // The first write after a reset gets this error, and only the next one raises the signal. Reading the error here
            // stands in for the first.
            var (error, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size)
            wasGone.withLock { $0 = isGone && error == ECONNRESET }
            socket.send("into the void")
        })
    try await withWatchdog {
        rig.socket.open(.toLoopback(port: port, secure: secure), attempt: first)
        #expect(await rig.events.untilClosed().last?.failure?.kind == .connectionLost)
        #expect(wasGone.withLock { $0 })
        // The signal is neither raised nor blocked: threads created here would inherit the block.
        let mask = Note<(pending: Bool, blocked: Bool)>()
        loop.post { _ in
            var (pending, blocked) = (sigset_t(), sigset_t())
            sigpending(&pending)
            pthread_sigmask(SIG_BLOCK, nil, &blocked)
            mask.send((sigismember(&pending, SIGPIPE) == 1, sigismember(&blocked, SIGPIPE) == 1))
        }
        let (isPending, isBlocked) = try #require(await mask.next())
        #expect(!isPending && !isBlocked)
        await loop.shutdown()
    }
    withExtendedLifetime(server) {}
}

/// libsodium is initialized once, by its first user, so each test runs in its own process.
@Suite struct SodiumTests {
    /// Returns whether libsodium had already been initialized.
    private static func isReady() -> Bool {
        typealias Initialize = @convention(c) () -> Int32
        return dlsym(nil, "sodium_init").map { unsafeBitCast($0, to: Initialize.self)() == 1 } ?? false
    }

    @Test func `The first signature of a process initializes libsodium`() async {
        await #expect(processExitsWith: .success) {
            _ = hmacSHA256("message", key: "key")
            try #require(Self.isReady())
        }
    }

    @Test func `The first shared secret of a process initializes libsodium`() async {
        await #expect(processExitsWith: .success) {
            let secret = SecretBox.sharedSecret(channel: "channel", masterKey: [])
            try #require(secret.count == SecretBox.keyLength && Self.isReady())
        }
    }
}
#endif

/// The structures in libwebsockets' headers differ from version to version.
@Suite struct LibwebsocketsVersionTests {
    @Test func `The libwebsockets headers have the version of the linked library`() {
        let headers = "\(LWS_LIBRARY_VERSION_MAJOR).\(LWS_LIBRARY_VERSION_MINOR).\(LWS_LIBRARY_VERSION_PATCH)"
        let library = String(cString: lws_get_library_version())
        #expect(library.prefix { $0 != "-" } == headers)
        // Set by ci/tools/with-libwebsockets.
        guard let expected = ProcessInfo.processInfo.environment["LIBWEBSOCKETS_VERSION"] else { return }
        #expect(headers == expected)
    }
}
#endif
