#if canImport(CLibwebsockets)
import CLibwebsockets
import Foundation

/// Names one connection, and with it one `open` of a socket.
struct ConnectionKey: Hashable, Sendable {
    let number: UInt64
}

/// The thread that serves all libwebsockets connections of the process, and the way to it.
///
/// libwebsockets isn't thread-safe: all but `lws_cancel_service` may be called on the service thread only. So whatever the
/// thread works with is reachable from the `LibwebsocketsService` alone, which only commands get to see.
final class LibwebsocketsLoop: Sendable {
    typealias Command = @Sendable (LibwebsocketsService) -> Void

    static let shared = LibwebsocketsLoop()

    private struct State {
        var commands: [Command] = []
        var isRunning = false
        var context: OpaquePointer?
        var lastKey: UInt64 = 0
    }

    private let state = Locked(State())

    /// A key that no other connection has.
    func makeKey() -> ConnectionKey {
        state.withLock { state in
            state.lastKey += 1
            return ConnectionKey(number: state.lastKey)
        }
    }

    /// Has a command run on the service thread, after all that were posted before; the first starts the thread.
    func post(_ command: @escaping Command) {
        let (starts, context) = state.withLock { state in
            let wasEmpty = state.commands.isEmpty
            state.commands.append(command)
            let starts = !state.isRunning
            state.isRunning = true
            return (starts, wasEmpty ? state.context : nil)
        }
        if starts {
            Thread { self.run() }.start()
        } else if let context {
            // The context lives as long as the process, so it may be used outside the lock.
            lws_cancel_service(context)
        }
    }

    /// The service thread: serves until the process ends; without a context, tells everybody so and ends.
    private func run() {
        Thread.current.name = "pusher-lws"
        let service = LibwebsocketsService(loop: self)
        guard let context = service.context else {
            while runCommands(on: service, stopsWhenIdle: true) {}
            return
        }
        state.withLock { $0.context = context }
        // Commands first: what was posted before the context was published woke nobody.
        while true {
            runCommands(on: service)
            service.settle()
            lws_service(context, 0)
            service.inbox.deliver()
        }
    }

    /// Runs the commands posted so far; returns whether there were any.
    @discardableResult
    private func runCommands(on service: LibwebsocketsService, stopsWhenIdle: Bool = false) -> Bool {
        let commands = state.withLock { state in
            let commands = state.commands
            state.commands = []
            if stopsWhenIdle, commands.isEmpty { state.isRunning = false }
            return commands
        }
        for command in commands {
            command(service)
        }
        return !commands.isEmpty
    }
}
#endif
