/// The environment of a machine: time, sockets, and the authorizers. A ``Watch`` observes everything that the machine does.
struct World {
    static let channels: [Name] = [
        "room", "private-room", "presence-room", "private-encrypted-room", "cache-room", "private-cache-room",
        "#server-to-user-me", "",
    ]

    private(set) var machine: ConnectionMachine
    private(set) var now: Instant = .origin
    var watch = Watch()
    /// The channels that the user wants. `wantsUser` indicates whether the user wants to be signed in.
    private(set) var wanted: Set<Name> = []
    private(set) var wantsUser = false
    private var triggered = 0
    private var decoder: EnvelopeDecoder

    init(_ configuration: ConnectionMachine.Configuration) {
        machine = ConnectionMachine(configuration: configuration, seed: 1)
        decoder = EnvelopeDecoder(configuration.protocol)
    }

    mutating func tell(_ input: Input) {
        let before = machine
        machine.handle(input, at: now)
        watch.see(input, machine.takeOutputs(), before: before, after: machine, at: now)
    }

    // MARK: Time

    mutating func pass(_ time: Duration) {
        now += time
    }

    /// Advances time to the machine's deadline, and checks that the machine handles the deadline within a limited number of
    /// calls.
    mutating func reachDeadline() {
        guard let deadline = machine.nextDeadline else { return }
        now = max(now, deadline)
        for _ in 0..<20 {
            guard let deadline = machine.nextDeadline, deadline <= now else { return }
            tell(.deadlineReached)
        }
        require(false, "time stands still at \(now), the machine waits for \(machine.nextDeadline ?? .origin)")
    }

    // MARK: The user

    mutating func subscribe(_ channel: Name, auth: PusherAuth? = nil, rewind: SubscriptionRewind? = nil) {
        tell(.subscribe(channel: channel, auth: auth, options: SubscriptionOptions(rewind: rewind)))
        if machine.problem(of: channel) == nil { wanted.insert(channel) }
    }

    mutating func unsubscribe(_ channel: Name) {
        tell(.unsubscribe(channel: channel))
        wanted.remove(channel)
    }

    mutating func unsubscribeAll() {
        for channel in wanted.sorted() { unsubscribe(channel) }
    }

    /// Triggers an event whose data is the next number.
    mutating func trigger(on channel: Name) {
        triggered += 1
        tell(.trigger(ClientEvent(name: "client-number", channel: channel, data: "\(triggered)")))
    }

    mutating func signIn() {
        tell(.signIn)
        wantsUser = true
    }

    // MARK: The server

    mutating func receive(_ frame: some Collection<UInt8>, on attempt: ConnectionAttempt) {
        // No message is reported before the socket is open or after it is closed.
        guard watch.sockets[attempt]?.isUp == true else { return }
        let block = Array(frame)
        do throws(MalformedMessage) {
            tell(.received(try decoder.decode(block, 0..<block.count), attempt))
        } catch {
            tell(.receivedMalformed(error, attempt))
        }
    }

    mutating func receive(_ frame: String, on attempt: ConnectionAttempt) {
        receive(frame.utf8, on: attempt)
    }

    // MARK: Authorizations

    /// Returns an authorization that contains the number of its attempt, by which the watch recognizes a stale one.
    static func auth(for attempt: SubscriptionAttempt) -> PusherAuth {
        let kind = ChannelName(attempt.channel).kind
        return PusherAuth(
            auth: "\(attempt.connection.number):\(attempt.generation)",
            channelData: kind == .presence ? #"{"user_id":"me"}"# : nil, sharedSecret: kind == .encrypted ? "key" : nil)
    }

    static func auth(for attempt: UserMachine.Attempt) -> PusherUserAuth {
        PusherUserAuth(auth: "\(attempt.connection.number):\(attempt.number)", userData: #"{"id":"me"}"#)
    }
}
