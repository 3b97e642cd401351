import TestSupport

@testable import PusherChannels

/// A client's machine and a server's, joined in memory and in virtual time by a hostile network.
///
/// Everything is drawn from the seed, so a seed replays its scenario. One queue orders all events. The extensions handle them:
/// ``+Network`` carries, cuts and delays messages, ``+Adversary`` makes trouble, and ``Oracle`` checks the results.
struct Simulation {
    enum Event {
        case clientHears(Input)
        /// A message arrives, unless its link was cut.
        case arrivesAtClient(String, Link.ID)
        case arrivesAtServer(String, Link.ID)
        case pingArrives(Link.ID)
        case linkOpens(Link.ID)
        case linkEndsAtClient(WebSocketClosure, Link.ID)
        case linkEndsAtServer(Link.ID)
        case trouble
    }

    static let channels: [Name] = ["news", "private-p", "presence-r", "private-encrypted-e", "cache-c"]
    static let app = ServerApp.local

    let seed: UInt64
    var random: SplitMix64
    var now: Instant = .origin
    private var queue: [(time: Instant, number: Int, event: Event)] = []
    private var eventsQueued = 0

    var client: ConnectionMachine
    var server: ServerMachine
    var links: [Link.ID: Link] = [:]
    var linkInUse: Link.ID?
    var oracle = Oracle()
    var isTraced = false
    var isCalm = false
    var remainingTroubles = 40
    /// Indicates whether a server's nodes stop hearing each other at times.
    private(set) var separatesNodes = false
    /// The longest pause between two troubles, in milliseconds.
    var longestQuiet = 40_000

    // The user's wishes and the actions so far.
    var wantsConnection = false
    var wantedChannels: Set<Name> = []
    var published: [Name: Int] = [:]
    var triggered = 0
    var peersInRoom: Set<Int> = []

    /// - Parameter settings: What a server has of Sockudo's protocol V2; nil for protocol 7.
    init(seed: UInt64, _ settings: ServerProfile.SockudoV2? = nil) {
        self.seed = seed
        random = SplitMix64(seed: seed)
        let profiles = ServerProfile.byName.map(\.value)
        var profile = profiles[Int(seed % UInt64(profiles.count))]
        if let settings {
            profile = .sockudoV2
            profile.sockudoV2 = settings
            separatesNodes = settings.nodes > 1 && seed % 16 >= 14
            oracle.replays = ReplayOracle(
                isOrdered: settings.swappedEvents == 0 && settings.nodes == 1,
                mayLose: settings.nodes > 1 && (settings.historyLength == nil || separatesNodes))
        }
        server = ServerMachine(apps: [Self.app], profile: profile, seed: seed)
        var configuration = ConnectionMachine.Configuration()
        configuration.reconnectPolicy.maximumDelay = .seconds(30)
        if settings != nil { configuration.protocol = .sockudo }
        client = ConnectionMachine(configuration: configuration, seed: seed)
    }

    // MARK: Time

    mutating func schedule(_ event: Event, at time: Instant) {
        eventsQueued += 1
        let entry = (time, eventsQueued, event)
        let place = queue.firstIndex { ($0.time, $0.number) > (time, eventsQueued) } ?? queue.endIndex
        queue.insert(entry, at: place)
    }

    /// Runs all events that are due until the end time.
    mutating func run(until end: Instant) {
        var steps = 0
        while true {
            let due = [queue.first?.time, client.nextDeadline, server.nextDeadline].compactMap { $0 }.min()
            guard let due, due <= end else { break }
            steps += 1
            guard steps < 100_000 else { return oracle.fail("time stands still at \(due)") }
            now = max(now, due)
            if let next = queue.first, next.time <= due {
                queue.removeFirst()
                happen(next.event)
            } else if let deadline = client.nextDeadline, deadline <= now {
                tellClient(.deadlineReached)
            } else {
                tellServer(.timePassed)
            }
            guard oracle.problem == nil else { return }
        }
        now = end
    }

    func trace(_ line: @autoclosure () -> String) {
        if isTraced { print("\(now): \(line())") }
    }

    private mutating func happen(_ event: Event) {
        trace("\(event)")
        switch event {
        case .clientHears(let input): tellClient(input)
        case .arrivesAtClient(let text, let id): arriveAtClient(text, id)
        case .arrivesAtServer(let text, let id): arriveAtServer(text, id)
        case .pingArrives(let id): arrivePing(id)
        case .linkOpens(let id): openLink(id)
        case .linkEndsAtClient(let closure, let id): endLinkAtClient(closure, id)
        case .linkEndsAtServer(let id): tellServer(.closed(ServerMachine.ConnectionID(id.number)))
        case .trouble: makeTrouble()
        }
    }

    // MARK: Random choices

    mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    mutating func duration(_ milliseconds: ClosedRange<Int>) -> Duration {
        .milliseconds(Int.random(in: milliseconds, using: &random))
    }

    // MARK: The machines

    mutating func tellClient(_ input: Input) {
        client.handle(input, at: now)
        let outputs = client.takeOutputs()
        trace("  client: \(input)")
        for output in outputs { trace("    \(output)") }
        for output in outputs { run(output) }
    }

    mutating func tellServer(_ input: ServerMachine.Input) {
        changeServer { server, now in server.handle(input, at: now) }
    }

    mutating func changeServer(_ change: (inout ServerMachine, Instant) -> Void) {
        // So that it knows the time, which a publish doesn't tell.
        server.handle(.timePassed, at: now)
        change(&server, now)
        let effects = server.takeEffects()
        for effect in effects { trace("  server: \(effect)") }
        for effect in effects { run(effect) }
    }

    private mutating func run(_ output: Output) {
        switch output {
        case .command(.openSocket(let attempt, _)): connect(attempt)
        case .command(.closeSocket(let attempt, _, _)): closeLink(of: attempt)
        case .command(.send(let message)): sendToServer(EnvelopeEncoder.encode(message))
        case .command(.authorize(let attempt, let socketID)): authorize(attempt, socketID: socketID)
        case .command(.authorizeUser(let attempt, let socketID)): authorizeUser(attempt, socketID: socketID)
        case .command(.decrypt(let event, let secret)): tellClient(.opened(event, EncryptedData.open(event.data, with: secret)))
        case .deliver(let delivery): oracle.hear(delivery, at: now, wanted: wantedChannels)
        // The reply may already be on its way, so a cancelled authorization is still delivered.
        case .command(.cancelAuthorization), .command(.cancelUserAuthorization), .command(.log), .log, .setReading,
            .pauseLimitReached:
            break
        }
    }

    private mutating func run(_ effect: ServerMachine.Effect) {
        switch effect {
        case .send(let text, let id): sendToClient(text, Link.ID(number: id.number))
        case .ping(let id): sendPing(to: Link.ID(number: id.number))
        case .close(let id, let code, let reason):
            closeFromServer(.closed(code: code, reason: reason), Link.ID(number: id.number))
        case .notice(.clientEvent(_, _, let event, _)): oracle.serverPassedOn(event)
        case .notice, .sendWebhook: break
        }
    }
}
