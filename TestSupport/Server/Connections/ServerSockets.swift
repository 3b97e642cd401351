import PusherChannels

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A server's port and its connections. Used on the server's thread only.
struct ServerSockets: SocketCore {
    /// The port; `nil` once the server no longer listens.
    private var listener: Listener?
    private let inbox: SocketInbox<ServerSockets>
    private let terms: ServerTerms
    private var connections: [Int: ServerConnection] = [:]
    private var accepted = 0
    /// The time at which accepting is tried again after it failed, most likely for lack of descriptors.
    private var acceptsAgain: Instant?
    /// Is told the reason why the server no longer listens; `nil` if it was stopped.
    private let onDeaf: @Sendable (String?) -> Void
    /// Is told that a server that is stopped has no connection left.
    private var onDrained: (@Sendable () -> Void)?

    init(
        _ listener: Listener, inbox: SocketInbox<ServerSockets>, _ terms: ServerTerms,
        onDeaf: @escaping @Sendable (String?) -> Void
    ) {
        self.listener = listener
        self.inbox = inbox
        self.terms = terms
        self.onDeaf = onDeaf
    }

    /// The number of connections.
    var counts: Int { connections.count }

    // MARK: Turns

    mutating func turn(at now: Instant, with buffer: UnsafeMutableRawBufferPointer) {
        accept(at: now)
        for connection in connections.values where connection.isTouched || connection.deadline.map({ $0 <= now }) == true {
            connection.advance(at: now, with: buffer)
        }
        if connections.values.contains(where: \.isOver) { connections = connections.filter { !$0.value.isOver } }
        if connections.isEmpty { onDrained.take()?() }
    }

    private mutating func accept(at now: Instant) {
        guard let listener, now >= acceptsAgain ?? now else { return }
        acceptsAgain = nil
        do throws(Sockets.Failure) {
            while true { add(try Sockets.accept(listener.descriptor)) }
        } catch {
            guard error.code != EAGAIN, error.code != EWOULDBLOCK else { return }
            if terms.endsIfDeaf { stopListening(error.reason) } else { acceptsAgain = now + .milliseconds(10) }
        }
    }

    private mutating func add(_ descriptor: Int32) {
        accepted += 1
        let number = accepted
        connections[number] = ServerConnection(
            descriptor, terms,
            handOver: { [weak inbox] reply in inbox?.post { $0.take(reply, for: number) } },
            wake: { [weak inbox] in inbox?.post { $0.connections[number]?.isTouched = true } })
    }

    private func take(_ reply: ServerReply, for number: Int) {
        guard let connection = connections[number] else { return }
        connection.isTouched = true
        connection.take(reply, at: LiveScheduler().now)
    }

    var nextWake: Instant? { [acceptsAgain, connections.values.lazy.compactMap(\.deadline).min()].compactMap { $0 }.min() }

    // MARK: Waiting

    /// Returns the events to poll for: the listener's, then those of each connection.
    func polled() -> [pollfd] {
        let listening = acceptsAgain == nil ? listener?.descriptor : nil
        return [pollfd(fd: listening ?? -1, events: Int16(POLLIN), revents: 0)] + connections.values.map(\.polled)
    }

    mutating func look(at polled: ArraySlice<pollfd>) {
        for (connection, polled) in zip(connections.values, polled.dropFirst()) { connection.look(at: polled) }
    }

    // MARK: Ending

    /// Stops listening, and closes each connection as soon as no task replies to its request.
    mutating func stop(_ onDrained: @escaping @Sendable () -> Void) {
        stopListening(nil)
        self.onDrained = onDrained
        for connection in connections.values { connection.stop() }
    }

    mutating func close() {
        stopListening(nil)
        for connection in connections.values {
            connection.stop()
            connection.clientIsGone()
        }
        connections = [:]
        onDrained.take()?()
    }

    private mutating func stopListening(_ reason: String?) {
        guard let listener = listener.take() else { return }
        listener.close()
        acceptsAgain = nil
        onDeaf(reason)
    }
}
