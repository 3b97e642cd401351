#if LocalServer
import PusherChannels

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A copy of the descriptor that a server listens on. It frees the port when the server is stopped, whatever the server is doing.
///
/// A child process that is being spawned also has a copy until it runs its program. Closing our own copy would leave the port
/// taken; shutting it down doesn't.
final class ListenerCopy: Sendable {
    private enum State {
        case none
        case kept(Int32)
        case freed
    }

    private let state = Locked(State.none)
    private let isKept = AsyncStream<Void>.makeStream()

    /// Copies the descriptor the first time that it is given a listening one.
    func keep(_ descriptor: Int32) {
        state.withLock { state in
            guard case .none = state, Sockets.isListening(descriptor) else { return }
            let copy = Sockets.copy(of: descriptor)
            if copy >= 0 { state = .kept(copy) }
            isKept.continuation.finish()
        }
    }

    /// Returns once there is a copy, or once there can be none, or when the task is cancelled.
    func whenKept() async {
        for await _ in isKept.stream {}
    }

    /// Frees the port.
    func free() {
        let copy: Int32? = state.withLock { state in
            defer {
                state = .freed
                isKept.continuation.finish()
            }
            if case .kept(let copy) = state { return copy }
            return nil
        }
        guard let copy else { return }
        shutdown(copy, Int32(SHUT_RDWR))
        close(copy)
    }
}
#endif
