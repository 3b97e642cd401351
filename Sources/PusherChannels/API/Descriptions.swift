/// Descriptions of clients and channels for logs and failed tests: their state, what they are waiting for and how long, and the
/// latest error. They hold no secrets, because error messages leave them out.

extension Pusher: CustomStringConvertible {
    /// The state of the connection and its channels; see ``PusherConnection/description``.
    public var description: String { connection.description }
}

extension PusherConnection: CustomStringConvertible {
    /// The maximum number of channels that are named.
    private static let limit = 5

    /// The connection's state, the time until its next step, and the channels that aren't subscribed yet:
    /// `app-key at ws-eu.pusher.com: reconnecting in 2.5 seconds; news: waits for a connection`. The host is that of the current
    /// or the latest attempt; before `connect()`, the first one.
    public var description: String {
        let now = environment.scheduler.now
        let (state, channels, missing) = core.read { machine in
            let others = machine.subscriptions.inOrder { !$0.isSubscribed }
            let texts = others.prefix(Self.limit).map { "\($0.channel): \($0.standing(in: machine, at: now))" }
            return (machine.standing(at: now), machine.subscriptions.count, (count: others.count, texts: texts))
        }
        let host = core.readState { state in
            // A request to connect begins with the first one.
            let server = state.machine.isIdle ? 0 : state.machine.session.servers.current
            return state.outbox.target.servers[server].host.withoutSecrets
        }
        let subscribed = channels > 0 ? ["\(channels - missing.count) of \(channels) channels subscribed"] : []
        let rest = missing.count > Self.limit ? ["and \(missing.count - Self.limit) more"] : []
        let parts = ["\(key) at \(host): \(state)"] + subscribed + missing.texts + rest
        return parts.joined(separator: "; ").asMessage
    }
}

extension PusherChannel: CustomStringConvertible {
    /// The channel's state, the time until its next step, and the latest error:
    /// `private-orders: tried again in 2.5 seconds, latest error: … (code 503)`; for a subscribed presence channel, the number of
    /// members.
    public var description: String {
        let now = client.environment.scheduler.now
        let standing = readConnection { machine, subscription in
            guard subscription.isSubscribed else {
                let text = subscription.standing(in: machine, at: now)
                return subscription.state == .waiting ? "\(text), which is \(machine.standing(at: now))" : text
            }
            guard subscription.name.kind == .presence else { return "subscribed" }
            let count = subscription.presentMembers.count
            return "subscribed, \(count == 1 ? "1 member" : "\(count) members")"
        }
        return "\(name): \(standing ?? "unsubscribed")".asMessage
    }
}

extension PusherEvent: CustomStringConvertible {
    /// The event's name, channel and data on one line, truncated if it gets too long: `placed on private-orders: {"id":7}`.
    public var description: String {
        let channel = channelName.map { " on \($0)" } ?? ""
        return "\(eventName)\(channel)\(data.map { ": \($0)" } ?? "")".inLogLine(upTo: 1000)
    }
}

extension PusherPresenceChannelMember: CustomStringConvertible {
    /// The user's id, and the application server's data about the user as JSON: `ann {"name":"Ann"}`.
    public var description: String { "\(userID)\(info.map { " \($0.text)" } ?? "")".inLogLine(upTo: 1000) }
}

// PusherSwift's classes have both descriptions.

extension PusherError: CustomDebugStringConvertible {
    /// The ``description``.
    public var debugDescription: String { description }
}

extension PusherEvent: CustomDebugStringConvertible {
    /// The ``description``.
    public var debugDescription: String { description }
}

extension PusherPresenceChannelMember: CustomDebugStringConvertible {
    /// The ``description``.
    public var debugDescription: String { description }
}

extension PusherAuth: CustomDebugStringConvertible {
    /// The ``description``, which shows no part of the authorization.
    public var debugDescription: String { description }
}

extension EventGap: CustomStringConvertible {
    /// The reason and the time: `reconnected, since 2026-01-05 10:00:00 +0000`.
    public var description: String { "\(reason), since \(since)" }
}

extension ConnectionMachine {
    fileprivate func standing(at now: Instant) -> String {
        let standing =
            switch session.phase {
            case .idle: "disconnected"
            case .shutDown: "shut down"
            case .opening(let deadline): "opening a socket\(givenUp(at: deadline, now))"
            case .establishing(let deadline): "waiting for the server's greeting\(givenUp(at: deadline, now))"
            case .connected: "connected as \(session.lastSocketID?.text ?? "")"
            case .waiting(let until): "reconnecting in \(max(until - now, .zero))"
            case .closing: "disconnecting"
            }
        return standing + ((session.lastServerError ?? session.lastError).map { ", latest error: \($0)" } ?? "")
    }
}

extension SubscriptionMachine {
    /// Returns a description of the state; `machine` is the connection's machine.
    fileprivate func standing(in machine: ConnectionMachine, at now: Instant) -> String {
        let awaited = ConnectionMachine.SubscriptionDeadline(channel: channel, awaited: .changeOf(state))
        let deadline = machine.subscriptions.deadlines.deadline(of: awaited)
        let standing =
            switch state {
            case .waiting: "waits for a connection"
            case .authorizing:
                deadline.map { "waits for its authorization\(givenUp(at: $0, now))" } ?? "waits for its turn to be authorized"
            case .awaitingUser: "waits for the user to be signed in\(deadline.map { givenUp(at: $0, now) } ?? "")"
            case .subscribing: "waits for the server's answer\(deadline.map { givenUp(at: $0, now) } ?? "")"
            case .subscribed: "subscribed"
            case .retrying(let time): "tried again in \(max(time - now, .zero))"
            case .failed: "failed"
            }
        return standing + (latestFailure.map { ", latest error: \($0)" } ?? "")
    }
}

private func givenUp(at deadline: Instant, _ now: Instant) -> String {
    ", given up in \(max(deadline - now, .zero))"
}
