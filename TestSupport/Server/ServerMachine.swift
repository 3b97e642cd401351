import PusherChannels

/// A Channels server's protocol logic as a value: inputs go in, effects come out, and nothing else happens.
///
/// No clock, no sockets, no locks, no randomness but the seed: the same inputs give the same effects, byte for byte. It
/// never traps on anything a client can send. ``LocalServer`` runs one behind real sockets, ``MockWebSocket`` one in
/// memory, and a test may join one to a client directly.
public struct ServerMachine: Sendable {
    /// A client's connection, numbered by whoever carries its bytes; a number is never used again.
    public struct ConnectionID: Hashable, Comparable, Sendable, CustomStringConvertible {
        /// The connection's number.
        public let number: Int

        /// Creates the id with a number.
        public init(_ number: Int) {
            self.number = number
        }

        /// Whether the left number is the smaller.
        public static func < (left: ConnectionID, right: ConnectionID) -> Bool { left.number < right.number }

        /// `connection 3`, as log lines show it.
        public var description: String { "connection \(number)" }
    }

    /// What happens to a server.
    public enum Input: Equatable, Sendable {
        /// A WebSocket was opened; `path` is the request's path and query, `/app/{key}?protocol=7…`.
        case opened(ConnectionID, path: String)
        /// A text message came.
        case received(String, from: ConnectionID)
        /// A WebSocket is closed, for whatever reason.
        case closed(ConnectionID)
        /// Time has passed: ``ServerMachine/nextDeadline`` has come.
        case timePassed
    }

    /// What a server wants done, in this order.
    public enum Effect: Equatable, Sendable {
        /// Send a text message.
        case send(String, to: ConnectionID)
        /// Close a WebSocket; nothing is sent to it afterwards.
        case close(ConnectionID, code: UInt16, reason: String)
        /// Nothing to do: news for a log or a test.
        case notice(Notice)
    }

    /// Who may connect and subscribe.
    public enum Admission: Equatable, Sendable {
        /// The registered apps only, with signatures that their secrets made.
        case registeredApps
        /// Any key; with a secret, signatures are checked against it, without one everything is let in.
        case anyKey(secret: String?)
    }

    struct Connection {
        let app: ServerApp
        let socketID: String
        /// The channels subscribed to, and as which user where the channel has members.
        var subscriptions: [String: String?] = [:]
        var lastActivity: MonotonicTime
        var pingedAt: MonotonicTime?
    }

    struct ChannelKey: Hashable {
        let appKey: String
        let name: String
    }

    /// What varies between servers.
    public let profile: ServerProfile
    let admission: Admission
    var apps: [ServerApp]
    var connections: [ConnectionID: Connection] = [:]
    var channels: [ChannelKey: ServerChannel] = [:]
    private var usedSocketIDs: Set<String> = []
    private var firstSocketIDs: ArraySlice<String>
    private var generator: SeededGenerator

    /// When ``Input/timePassed`` is due; `nil` while no connection can time out.
    public private(set) var nextDeadline: MonotonicTime?

    /// Creates a server without connections.
    ///
    /// - Parameters:
    ///   - apps: The apps that clients may connect to.
    ///   - admission: Who may connect and subscribe.
    ///   - profile: What varies between servers.
    ///   - socketIDs: The socket ids of the first connections; later ones are drawn from `seed`.
    ///   - seed: Where random numbers begin.
    public init(
        apps: [ServerApp] = [.local], admission: Admission = .registeredApps, profile: ServerProfile = .hosted,
        socketIDs: [String] = [], seed: UInt64 = 1
    ) {
        self.apps = apps
        self.admission = admission
        self.profile = profile
        firstSocketIDs = socketIDs[...]
        generator = SeededGenerator(seed: seed)
    }

    /// Takes an input in and appends what is to be done.
    ///
    /// - Parameter now: The time on the caller's monotonic clock; it never goes back.
    public mutating func handle(_ input: Input, at now: MonotonicTime, into effects: inout [Effect]) {
        switch input {
        case .opened(let id, let path):
            open(id, path: path, at: now, into: &effects)
        case .received(let text, let id):
            guard connections[id] != nil else { return }
            connections[id]?.lastActivity = now
            connections[id]?.pingedAt = nil
            receive(text, from: id, into: &effects)
        case .closed(let id):
            guard connections[id] != nil else { return }
            remove(id, into: &effects)
            effects.append(.notice(.disconnected(id)))
        case .timePassed:
            checkActivity(at: now, into: &effects)
        }
    }

    /// Closes a connection from the server's side.
    public mutating func close(_ id: ConnectionID, code: UInt16, reason: String, into effects: inout [Effect]) {
        guard connections[id] != nil else { return }
        effects.append(.close(id, code: code, reason: reason))
        remove(id, into: &effects)
        effects.append(.notice(.disconnected(id)))
    }

    // MARK: Opening

    private mutating func open(_ id: ConnectionID, path: String, at now: MonotonicTime, into effects: inout [Effect]) {
        let request = ServerRequest(method: "GET", target: path)
        let app: ServerApp
        do throws(ConnectionRefusal) {
            app = try admit(request)
        } catch {
            effects.append(.send(ServerFrame.error(error.message, code: Int(error.code)), to: id))
            effects.append(.close(id, code: error.code, reason: error.message))
            effects.append(.notice(.refused(id, code: error.code, reason: error.message)))
            return
        }
        let socketID = makeSocketID()
        connections[id] = Connection(app: app, socketID: socketID, lastActivity: now)
        if let idleTimeout = profile.idleTimeout, nextDeadline == nil { nextDeadline = now + idleTimeout }
        var data: [String: JSONValue] = ["socket_id": .string(socketID)]
        // The timeout came with protocol 7; older clients would not expect it.
        if request.parameters["protocol"] == "7" { data["activity_timeout"] = .integer(profile.activityTimeout) }
        let text = JSONValue.object(data).text
        effects.append(.send(ServerFrame.event("pusher:connection_established", channel: nil, data: text), to: id))
        effects.append(.notice(.connected(id, appKey: app.key, socketID: socketID)))
    }

    private mutating func makeSocketID() -> String {
        if let given = firstSocketIDs.popFirst(), usedSocketIDs.insert(given).inserted { return given }
        while true {
            let drawn = "\(generator.next() % 1_000_000).\(generator.next() % 1_000_000_000)"
            if usedSocketIDs.insert(drawn).inserted { return drawn }
        }
    }

    // MARK: Time

    private mutating func checkActivity(at now: MonotonicTime, into effects: inout [Effect]) {
        guard let idleTimeout = profile.idleTimeout, let deadline = nextDeadline, now >= deadline else { return }
        for (id, connection) in connections.sorted(by: { $0.key < $1.key }) {
            if let pingedAt = connection.pingedAt {
                guard now >= pingedAt + profile.pongTimeout else { continue }
                close(id, code: 4201, reason: "Pong reply not received", into: &effects)
            } else if now >= connection.lastActivity + idleTimeout {
                connections[id]?.pingedAt = now
                effects.append(.send(ServerFrame.ping, to: id))
            }
        }
        // Activity only puts deadlines off, so the earliest one known now is early enough.
        nextDeadline = connections.values.map { connection in
            connection.pingedAt.map { $0 + profile.pongTimeout } ?? connection.lastActivity + idleTimeout
        }.min()
    }
}
