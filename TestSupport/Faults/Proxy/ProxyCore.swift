import PusherChannels

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A proxy's counts, available at any time.
struct ProxyCounts {
    var accepted = 0
    var open = 0
    var moved = ProxyConnection.Moved()
    /// The faults of single connections.
    var faultsOfOne: [Int: [Fault]] = [:]
    /// Those that came when their connection was over.
    var lateFaults: [(fault: Fault, connection: Int)] = []
}

/// A proxy's connections and faults. Used on the proxy's thread only.
struct ProxyCore: SocketCore {
    typealias Wrap = (Int32) -> any ProxyStream

    private var listener: Listener
    private let addresses: [SocketAddress]
    private let wrap: Wrap
    private var connections: [(number: Int, connection: ProxyConnection, wake: Instant?)] = []
    private var accepted = 0
    /// The bytes moved by connections that have ended.
    private var movedBefore = ProxyConnection.Moved()
    private var faults: [Fault] = []
    private var faultsOfOne: [Int: [Fault]] = [:]
    /// The faults that came when their only connection was over.
    private var lateFaults: [(fault: Fault, connection: Int)] = []
    /// The time at which accepting is retried after it failed, most likely for lack of descriptors.
    private var acceptsAgain: Instant?

    init(listener: Listener, addresses: [SocketAddress], faults: [Fault], wrap: @escaping Wrap) {
        self.listener = listener
        self.addresses = addresses
        self.wrap = wrap
        for fault in faults { inject(fault) }
    }

    var counts: ProxyCounts {
        var counts = ProxyCounts(
            accepted: accepted, open: connections.count { !$0.connection.isOver }, moved: movedBefore, faultsOfOne: faultsOfOne,
            lateFaults: lateFaults)
        for (_, connection, _) in connections {
            counts.moved.toClient += connection.moved.toClient
            counts.moved.toServer += connection.moved.toServer
        }
        return counts
    }

    // MARK: Faults

    mutating func inject(_ fault: Fault) {
        if fault == .refused {
            try? listener.refuse()
            return
        }
        faults.append(fault)
        for index in connections.indices { connections[index].connection.add(fault) }
    }

    mutating func inject(_ fault: Fault, onConnection number: Int) {
        faultsOfOne[number, default: []].append(fault)
        if let index = connections.firstIndex(where: { $0.number == number && !$0.connection.isOver }) {
            connections[index].connection.add(fault)
        } else if number > 0, number <= accepted {
            lateFaults.append((fault, number))
        }
    }

    mutating func heal() {
        try? listener.resume()
        faults.removeAll()
        faultsOfOne.removeAll()
        for index in connections.indices { connections[index].connection.heal() }
    }

    mutating func cutAll() {
        for index in connections.indices { connections[index].connection.reset() }
    }

    mutating func close() {
        for index in connections.indices { connections[index].connection.close() }
        listener.close()
    }

    // MARK: Turns

    /// Does everything that can be done now.
    mutating func turn(at now: Instant, with buffer: UnsafeMutableRawBufferPointer) {
        accept(at: now)
        for index in connections.indices {
            connections[index].wake = connections[index].connection.advance(at: now, with: buffer)
        }
        for (_, connection, _) in connections where connection.isOver {
            movedBefore.toClient += connection.moved.toClient
            movedBefore.toServer += connection.moved.toServer
        }
        connections.removeAll { $0.connection.isOver }
    }

    private mutating func accept(at now: Instant) {
        guard listener.isListening, now >= acceptsAgain ?? now else { return }
        acceptsAgain = nil
        do throws(Sockets.Failure) {
            while true {
                let client = wrap(try Sockets.accept(listener.descriptor))
                accepted += 1
                let faults = faults + (faultsOfOne[accepted] ?? [])
                connections.append((accepted, ProxyConnection(client: client, to: addresses, faults: faults, at: now), nil))
            }
        } catch {
            if error.code != EAGAIN, error.code != EWOULDBLOCK { acceptsAgain = now + .milliseconds(10) }
        }
    }

    /// The next time at which something is due without an event.
    var nextWake: Instant? {
        (connections.map(\.wake) + [acceptsAgain]).compactMap { $0 }.min()
    }

    // MARK: Waiting

    /// Returns the events to poll for: the listener's entry, then two entries for each connection.
    func polled() -> [pollfd] {
        var polled = [
            pollfd(fd: listener.isListening && acceptsAgain == nil ? listener.descriptor : -1, events: pollIn, revents: 0)
        ]
        for (_, connection, _) in connections {
            polled.append(connection.clientPoll)
            polled.append(connection.serverPoll)
        }
        return polled
    }

    /// Finds clients that disconnected while no events were requested of them.
    mutating func look(at polled: ArraySlice<pollfd>) {
        for (index, entry) in zip(connections.indices, stride(from: polled.startIndex + 1, to: polled.endIndex, by: 2)) {
            let client = polled[entry]
            if client.events == 0, client.revents & (Int16(POLLERR) | Int16(POLLHUP)) != 0 {
                connections[index].connection.clientIsGone()
            }
        }
    }
}

private let pollIn = Int16(POLLIN)
private let pollOut = Int16(POLLOUT)

extension ProxyConnection {
    /// The events to poll for at the client's end. There are none once both sides have sent FIN, because nothing more can happen.
    fileprivate var clientPoll: pollfd {
        var events: Int16 = 0
        if wantsToReadClient || isWaitingForClient { events |= pollIn }
        if isClientBlocked || (client.hasUnsent && !isClientDeaf) { events |= pollOut }
        return pollfd(fd: events == 0 && hasFinished ? -1 : client.descriptor, events: events, revents: 0)
    }

    fileprivate var serverPoll: pollfd {
        var events: Int16 = 0
        if wantsToReadServer { events |= pollIn }
        if server.isConnecting || server.isBlocked { events |= pollOut }
        return pollfd(fd: events == 0 || server.isClosed ? -1 : server.descriptor, events: events, revents: 0)
    }
}
