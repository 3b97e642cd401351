import PusherChannels

/// A Channels server's protocol logic as a value: inputs go in, effects come out, and nothing else happens.
///
/// It has no clock, no sockets, no locks, and no randomness except for the seed: the same inputs give the same effects, byte for
/// byte. It never traps on anything that a client can send. ``LocalServer`` runs a machine behind real sockets, ``MockWebSocket``
/// in memory, and a test may connect one to a client directly.
public struct ServerMachine: Sendable {
    /// The id of a client's connection. The code that carries the connection's bytes numbers it; a number is never used again.
    public struct ConnectionID: Hashable, Comparable, Sendable, CustomStringConvertible {
        /// The connection's number.
        public let number: Int

        /// Creates the id with a number.
        package init(_ number: Int) {
            self.number = number
        }

        /// Returns whether the left number is the smaller.
        public static func < (left: ConnectionID, right: ConnectionID) -> Bool { left.number < right.number }

        /// `connection 3`, as log lines show it.
        public var description: String { "connection \(number)" }
    }

    /// An event at a server.
    package enum Input: Equatable, Sendable {
        /// A WebSocket was opened; `path` is the request's path and query, `/app/{key}?protocol=7…`.
        case opened(ConnectionID, path: String, isSecure: Bool = false)
        /// A text message came.
        case received(String, from: ConnectionID)
        /// The answer to a ``Effect/ping(_:)`` came.
        case pong(ConnectionID)
        /// A WebSocket is closed, for whatever reason.
        case closed(ConnectionID)
        /// Time has passed: ``ServerMachine/nextDeadline`` has been reached.
        case timePassed
    }

    /// An action that a server wants done.
    package enum Effect: Equatable, Sendable {
        /// Send a text message.
        case send(String, to: ConnectionID)
        /// Send a ping frame.
        case ping(ConnectionID)
        /// Close a WebSocket; nothing is sent to it afterwards.
        case close(ConnectionID, code: UInt16, reason: String)
        /// Post a webhook to an app's backend, signed with the app's secret.
        case sendWebhook(Webhook)
        /// Nothing to do: a notice for a log or a test.
        case notice(Notice)
    }

    /// The clients that may connect and subscribe.
    public enum Admission: Equatable, Sendable {
        /// Registered apps only, with signatures made with their secrets.
        case registeredApps
        /// Any key. With a secret, signatures are checked against it; without one, everything is let in.
        case anyKey(secret: String?)
        /// Registered apps, whose signatures are checked, and any other key. Such a key becomes an app like ``ServerApp/local``,
        /// whose signatures aren't checked, because nobody said what its secret is.
        case registeredAppsAndNewOnes
    }

    struct Connection {
        let app: ServerApp
        let socketID: String
        let openedAt: Instant
        var user: ServerUser?
        /// The subscribed channels, each with the user's id if the channel has members.
        var subscriptions: [Name: Name?] = [:]
        var lastActivity: Instant
        var pingedAt: Instant?
        /// Indicates whether its user has signed in, or it has ever subscribed with a signature.
        var isAuthorized = false
        /// What it has for Sockudo's protocol V2; nil for other protocols.
        var sockudo: SockudoConnection?
        /// The arrival times of the client events of the last second.
        var clientEventTimes: [Instant] = []

        /// The time at which the connection is closed unless its user signs in or it subscribes with a signature; `nil` once that
        /// has happened.
        var authorizationDeadline: Instant? { isAuthorized ? nil : app.authorizationTimeout.map { openedAt + $0 } }
    }

    struct ChannelKey: Hashable {
        let appKey: Name
        let name: Name

        init(appKey: String, name: Name) {
            self.appKey = Name(appKey)
            self.name = name
        }
    }

    struct StreamKey: Hashable {
        let channel: ChannelKey
        let node: Int
    }

    /// The traits that vary between servers.
    package let profile: ServerProfile
    let admission: Admission
    var apps: [ServerApp]
    /// The keys of the apps that were made for clients' unknown keys, whose secrets aren't known.
    var newKeys: Set<Name> = []
    /// The endpoints that receive the webhooks of all apps, for apps that come later.
    var webhooksOfNewApps: [ServerApp.WebhookEndpoint] = []
    var connections: [ConnectionID: Connection] = [:]
    /// The connections that were refused with an error, but not closed.
    private var refused: Set<ConnectionID> = []
    /// Indicates whether new connections are told that the server is closing, with the profile's ``ServerProfile/shutdown``.
    package var isClosing = false
    var channels: [ChannelKey: ServerChannel] = [:]
    /// The channels that a server never forgets, if it doesn't.
    var knownChannels: Set<ChannelKey> = []
    var cache = ServerCache()
    /// The publishes that the HTTP API knows again.
    var publishKeys = PublishKeys()
    /// The streams of Sockudo's protocol V2.
    var streams: [StreamKey: SockudoStream] = [:]
    /// Indicates whether what is published on a node of Sockudo's reaches the connections of the others, as it doesn't after one
    /// was started or hung.
    public var nodesHearEachOther = true
    /// What happened, for an observer; `nil` if there is none.
    var observation: Observation?
    var webhooks: WebhookQueue
    /// The times at which the numbers of subscribers of large channels are announced.
    var countsDue: [ChannelKey: Instant] = [:]
    /// The time of the latest input. Anything that comes without a time is taken to happen then.
    var now: Instant = .origin
    var socketIDsInUse: Set<String> = []
    private var firstSocketIDs: ArraySlice<String>
    var generator: SplitMix64

    /// The effects of what happened since ``takeEffects()``, in order.
    package internal(set) var effects: [Effect] = []

    /// The time at which ``Input/timePassed`` is due; `nil` if nothing waits for it.
    package internal(set) var nextDeadline: Instant?

    /// Creates a server without connections.
    ///
    /// - Parameters:
    ///   - apps: The apps that clients may connect to.
    ///   - admission: The clients that may connect and subscribe.
    ///   - profile: The server to imitate.
    ///   - socketIDs: The socket ids of the first connections; later ones are drawn from `seed`.
    ///   - seed: The seed of random numbers.
    public init(
        apps: [ServerApp] = [.local], admission: Admission = .registeredApps, profile: ServerProfile = .hosted,
        socketIDs: [String] = [], seed: UInt64 = 1
    ) {
        self.apps = apps
        self.admission = admission
        self.profile = profile
        firstSocketIDs = socketIDs[...]
        generator = SplitMix64(seed: seed)
        webhooks = WebhookQueue(
            departureDelay: profile.webhookDepartureDelay, window: profile.webhookWindow,
            maximumLength: profile.maximumWebhookLength)
    }

    /// Returns the ``effects``, and forgets them.
    package mutating func takeEffects() -> [Effect] {
        defer { effects = [] }
        return effects
    }

    /// Handles an input.
    ///
    /// - Parameters:
    ///   - input: The event to handle.
    ///   - now: The time on the caller's monotonic clock, which never goes back.
    package mutating func handle(_ input: Input, at now: Instant) {
        self.now = max(self.now, now)
        let start = effects.count
        defer { speakSockudo(from: start) }
        switch input {
        case .opened(let id, let path, let isSecure):
            open(id, path: path, isSecure: isSecure)
        case .received(let text, let id):
            guard connections[id] != nil else { return }
            noteActivity(of: id)
            receive(text, from: id)
        // Protocol 7 has its own pongs, which alone count.
        case .pong(let id): if connections[id]?.sockudo != nil { noteActivity(of: id) }
        case .closed(let id):
            refused.remove(id)
            guard connections[id] != nil else { return }
            remove(id)
            effects.append(.notice(.disconnected(id)))
        case .timePassed:
            passTime()
        }
    }

    /// Closes a connection from the server's side.
    package mutating func close(_ id: ConnectionID, code: UInt16, reason: String) {
        guard connections[id] != nil else { return }
        effects.append(.close(id, code: code, reason: reason))
        // The others are told in their own names, also if a test or the HTTP API closes it.
        let start = effects.count
        defer { speakSockudo(from: start) }
        remove(id)
        effects.append(.notice(.disconnected(id)))
    }

    /// Closes all connections as the server does when it is stopped.
    package mutating func shutdown() {
        let shutdown = profile.shutdown
        let error = shutdown.isAnnounced ? profile.error(shutdown.reason, code: Int(shutdown.code)) : nil
        closeAll(code: shutdown.code, reason: shutdown.reason, saying: error)
    }

    /// Closes all connections, each after an error if there is one, and those that were refused, but not closed.
    package mutating func closeAll(code: UInt16, reason: String, saying error: String? = nil) {
        for id in connections.keys.sorted() {
            if let error { effects.append(.send(error, to: id)) }
            close(id, code: code, reason: reason)
        }
        for id in refused.sorted() { effects.append(.close(id, code: code, reason: reason)) }
        refused = []
    }

    // MARK: Opening

    private mutating func open(_ id: ConnectionID, path: String, isSecure: Bool) {
        let request = RecordedRequest(method: "GET", url: path)
        if isClosing {
            let shutdown = profile.shutdown
            effects.append(.send(profile.error(shutdown.reason, code: Int(shutdown.code)), to: id))
            return effects.append(.close(id, code: shutdown.code, reason: shutdown.reason))
        }
        let app: ServerApp
        do throws(ConnectionRefusal) {
            app = try admit(request, isSecure: isSecure)
        } catch {
            let words = ["key": error.key, "reason": error.message]
            if !answer(error.occasion, words: words, to: id) {
                effects.append(.send(profile.error(error.message, code: Int(error.code)), to: id))
                effects.append(.close(id, code: error.code, reason: error.message))
            } else if case .error(_, _, then: .nothing) = profile.answer(error.occasion) {
                refused.insert(id)
            }
            effects.append(.notice(.refused(id, code: error.code, reason: error.message)))
            observe(.refused, by: id, text: error.message)
            return
        }
        let socketID = makeSocketID()
        var connection = Connection(app: app, socketID: socketID, openedAt: now, lastActivity: now)
        connection.sockudo = sockudoConnection(request.queryFields)
        connections[id] = connection
        needsTime(by: deadline(of: connection))
        // The activity time-out came with protocol 7; older clients don't expect it.
        let isOfVersion7 = request.queryFields["protocol"].map { Name($0) } == "7"
        let hasTimeout = connection.sockudo != nil || profile.tellsActivityTimeoutToAll || isOfVersion7
        let activityTimeout = hasTimeout ? profile.activityTimeout : nil
        effects.append(.send(ServerFrame.established(socketID: socketID, activityTimeout: activityTimeout), to: id))
        effects.append(.notice(.connected(id, appKey: app.key, socketID: socketID)))
        observe(.connected, appKey: app.key, by: id, text: socketID)
    }

    private mutating func makeSocketID() -> String {
        if let given = firstSocketIDs.popFirst(), socketIDsInUse.insert(given).inserted { return given }
        while true {
            let drawn = "\(generator.next() % 1_000_000).\(generator.next() % 1_000_000_000)"
            if socketIDsInUse.insert(drawn).inserted { return drawn }
        }
    }
}
