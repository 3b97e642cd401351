#if LocalServer
import PusherChannels

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The port, the connections and the thread of a ``LocalServer``. It goes with its last reference, and so does the port.
final class ServerThread: Sendable {
    /// The port that it listens on.
    let port: Int
    private let thread: SocketThread<ServerSockets>
    private let ends: AsyncStream<String?>

    /// Listens at an address of this machine; port 0 takes a free one.
    init(host: String, port: Int, _ terms: ServerTerms) throws(LocalServer.CannotListen) {
        func refusal(_ reason: String) -> LocalServer.CannotListen {
            LocalServer.CannotListen(host: host, port: port, reason: reason)
        }
        guard let number = UInt16(exactly: port) else { throw refusal("There is no such port") }
        guard let address = SocketAddress(ip4: host, port: number) else { throw refusal("It is no IPv4 address") }
        let (ends, end) = AsyncStream<String?>.makeStream()
        self.ends = ends
        do throws(Sockets.Failure) {
            let inbox = try SocketInbox<ServerSockets>()
            let listener = try Listener(address)
            self.port = Int(listener.port)
            let sockets = ServerSockets(listener, inbox: inbox, terms) { end.yield($0) }
            // From here on the thread closes the listener.
            thread = SocketThread("local-server", sockets, inbox: inbox)
            try thread.run()
        } catch {
            throw refusal(error.reason)
        }
    }

    deinit {
        // Doesn't wait: it may be the thread that lets go of the last reference.
        thread.inbox.stop()
    }

    /// Waits until it no longer listens, and returns the reason; `nil` if it was stopped.
    func end() async -> String? {
        await ends.first { _ in true } ?? nil
    }

    /// Frees the port, cancels the tasks that reply to requests, and returns when there is no connection left.
    func drain() async {
        await withCheckedContinuation { continuation in
            thread.inbox.post { $0.stop { continuation.resume() } }
        }
    }

    /// Closes everything at once.
    func stop() {
        thread.stop()
    }
}
#endif
