import PusherChannels

/// Time-outs of connections that are silent, or on which nobody has signed in.
extension ServerMachine {
    mutating func needsTime(by deadline: Instant?) {
        nextDeadline = [nextDeadline, deadline].compactMap { $0 }.min()
    }

    func deadline(of connection: Connection) -> Instant? {
        let pong = connection.pingedAt.map { $0 + profile.pongTimeout }
        let idle = idleTimeout(of: connection).map { connection.lastActivity + $0 }
        let silence = profile.silenceLimit.map { connection.lastActivity + $0.duration }
        return [pong ?? idle, silence, connection.authorizationDeadline, connection.sockudo?.deadline].compactMap { $0 }.min()
    }

    /// The time after which a connection is pinged.
    private func idleTimeout(of connection: Connection) -> Duration? {
        connection.sockudo == nil ? profile.idleTimeout : profile.sockudoV2?.pingInterval
    }

    /// Notes that a connection's client is there.
    mutating func noteActivity(of id: ConnectionID) {
        let wasPinged = connections[id]?.pingedAt.take() != nil
        connections[id]?.lastActivity = now
        // The next ping may be due before the reply to the last one would have been.
        if wasPinged { needsTime(by: connections[id].flatMap(deadline)) }
    }

    mutating func passTime() {
        guard let due = nextDeadline, now >= due else { return }
        for (id, connection) in connections.sorted(by: { $0.key < $1.key }) {
            sendLate(to: id)
            if connections[id] != nil { check(connection, id) }
        }
        sendDueCounts()
        sendDueWebhooks()
        // Activity only postpones deadlines, except for a reply to a ping, so the earliest one known now is early enough.
        nextDeadline = [connections.values.compactMap(deadline).min(), deadlineWithoutConnections].compactMap { $0 }.min()
    }

    /// The earliest deadline that doesn't belong to a connection.
    var deadlineWithoutConnections: Instant? { [countsDue.values.min(), webhooks.deadline].compactMap { $0 }.min() }

    private mutating func check(_ connection: Connection, _ id: ConnectionID) {
        if let deadline = connection.authorizationDeadline, now >= deadline {
            let message = "Connection not authorized within timeout"
            effects.append(.send(profile.error(message, code: 4009), to: id))
            close(id, code: 4009, reason: message)
        } else if let limit = profile.silenceLimit, now >= connection.lastActivity + limit.duration {
            let reason = limit.code == 4201 ? "Pong reply not received" : "Closed after inactivity"
            close(id, code: limit.code, reason: reason)
        } else if let pingedAt = connection.pingedAt {
            guard now >= pingedAt + profile.pongTimeout else { return }
            close(id, code: 4201, reason: "Pong reply not received" + (connection.sockudo == nil ? "" : " in time"))
        } else if let idleTimeout = idleTimeout(of: connection), now >= connection.lastActivity + idleTimeout {
            connections[id]?.pingedAt = now
            effects.append(connection.sockudo == nil ? .send(ServerFrame.ping, to: id) : .ping(id))
        }
    }
}

/// The timer for the next deadline of a server's machine. It is set again only for an earlier deadline.
struct MachineTimer {
    static let label = "deadline of a test server"
    private var timer: (deadline: Instant, action: any ScheduledAction)?

    mutating func set(for deadline: Instant?, on scheduler: any Scheduler, _ action: @escaping @Sendable () -> Void) {
        guard let deadline else { return cancel() }
        if let timer, timer.deadline <= deadline { return }
        cancel()
        timer = (deadline, scheduler.schedule(at: deadline, label: Self.label, action))
    }

    mutating func cancel() {
        timer?.action.cancel()
        timer = nil
    }
}
