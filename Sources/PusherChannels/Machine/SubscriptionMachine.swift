/// A channel that the user wants, and its progress toward a subscription.
///
/// It exists as long as the channel is wanted, across connections. Each connection authorizes and subscribes it again.
struct SubscriptionMachine: Equatable, Sendable {
    enum State: Equatable, Sendable {
        /// Waits for a connection to be established.
        case waiting
        case authorizing(SubscriptionAttempt)
        /// Waits for the sign-in to end: the authorization doesn't name the member, so the signed-in user joins.
        case awaitingUser(SubscriptionAttempt)
        case subscribing(SubscriptionAttempt)
        case subscribed
        /// Waits until it is time to retry.
        case retrying(at: Instant)
        /// Stays unsubscribed until the user asks again or the next connection is established.
        case failed
    }

    let name: ChannelName
    var channel: Name { name.name }
    /// The position in the order in which channels were first requested, which is also the order of subscribing.
    var ordinal = 0
    private(set) var state = State.waiting {
        didSet { if !awaitsUser { authWithoutUser = nil } }
    }
    private(set) var subscriptionCount: Int?
    /// The request that the server got on this connection.
    private enum Request {
        case none
        /// The channel was requested. The server may have subscribed it, even if it hasn't replied.
        case made
        /// The channel was requested and refused. The refusal may have been the reply to an earlier request, so a success still
        /// counts.
        case refused
    }

    private var request = Request.none
    /// The number of requests that were undone on this connection before the server answered them. Their answers come first.
    var undoneRequests = 0
    /// The number of consecutive attempts that failed on this connection.
    private(set) var failures = 0
    /// The failure of the latest attempt; nil once one succeeds.
    private(set) var latestFailure: PusherError?
    /// The failure that was reported last since the channel was asked for or subscribed.
    private var reportedFailure: PusherError?
    /// The time before which the authorizer asked not to be called again. It also applies to the next connection.
    private var notBefore: Instant?

    /// An authorization supplied by the caller. It is used once: its signature is for one connection.
    var suppliedAuth: PusherAuth?
    /// The authorization that waits for the user.
    private var authWithoutUser: PusherAuth?
    /// The events of an encrypted channel that are still to be decrypted; nil for other channels.
    var encryptedEvents: EncryptedEvents?
    /// The channel's place in its stream, on a server that has such; nil before the first success and on other servers.
    var recovery: ChannelRecovery?
    /// What is asked for besides the channel, in Sockudo's protocol.
    var options: SubscriptionOptions?
    private var myUserID: Name?
    /// The time since which events on the channel may be missing; nil if there is no such time.
    private var missingSince: Instant?
    /// The time at which it was first asked for.
    var askedAt: Instant?
    /// The members in the latest subscription. They are kept while the connection is down, so the next subscription can report
    /// the difference.
    private var roster: PresenceRoster?
    private var unsentEvents: [ClientEvent] = []
    private var unsentBytes = 0

    init(name: ChannelName, suppliedAuth: PusherAuth?) {
        self.name = name
        self.suppliedAuth = suppliedAuth
        encryptedEvents = name.kind == .encrypted ? EncryptedEvents() : nil
    }

    /// Notes that the application has what came up to a position, which an earlier process stored. Unless the rest is replayed,
    /// events may be missing.
    mutating func resume(after position: StreamPosition, isReplayed: Bool, at now: Instant) {
        (missingSince, options) = (now, options?.withoutRewind)
        if isReplayed { recovery = ChannelRecovery(after: position) }
    }

    /// Takes a request's options. Only the first subscription rewinds: later, what was missed is replayed, or is a gap.
    mutating func ask(for options: SubscriptionOptions?) {
        self.options = wasSubscribed ? options?.withoutRewind : options
    }

    // MARK: State

    var isSubscribed: Bool { state == .subscribed }

    /// Indicates whether it was ever subscribed, so that something may have been missed.
    var wasSubscribed: Bool { missingSince != nil }

    /// The time since which it isn't subscribed though it is wanted and may be; nil if it is, or was refused for good.
    var pendingSince: Instant? { isSubscribed || state == .failed ? nil : missingSince ?? askedAt }

    var isEncrypted: Bool { name.kind == .encrypted }

    var awaitsUser: Bool {
        if case .awaitingUser = state { true } else { false }
    }

    var isSubscribing: Bool {
        if case .subscribing = state { true } else { false }
    }

    /// Indicates whether the server has yet to accept or refuse the channel's authorization.
    var awaitsVerdict: Bool { isSubscribing && name.needsAuthorization }

    /// Indicates whether an undone request may be refused.
    var hasUndoneVerdict: Bool { undoneRequests > 0 && name.needsAuthorization }

    /// Indicates whether the server may refuse the channel, which it can once the channel was requested.
    var mayBeRefused: Bool { isSubscribing || isSubscribed }

    /// The members who are present. None are known while the channel isn't subscribed.
    var presentMembers: PresenceRoster {
        isSubscribed ? roster ?? PresenceRoster() : PresenceRoster()
    }

    /// The user ID that this client subscribed with; nil if the authorization named none.
    var me: Name? {
        isSubscribed ? myUserID : nil
    }

    // MARK: Subscribing

    /// The step that follows ``begin(_:)``.
    enum NextStep {
        case askForAuthorization
        case use(PusherAuth)
        case send(ClientMessage)
    }

    /// Begins an attempt to subscribe; returns the next step.
    mutating func begin(_ attempt: SubscriptionAttempt) -> NextStep {
        guard name.needsAuthorization else {
            state = .subscribing(attempt)
            request = .made
            return .send(.subscribe(channel: channel.text, auth: nil, channelData: nil, options: options))
        }
        state = .authorizing(attempt)
        defer { suppliedAuth = nil }
        return suppliedAuth.map { .use($0) } ?? .askForAuthorization
    }

    /// Returns whether this authorization is still needed.
    func awaits(_ attempt: SubscriptionAttempt) -> Bool {
        state == .authorizing(attempt) || encryptedEvents?.refresh == attempt
    }

    /// Keeps an authorization that names no member until the user is known. Returns false if it names one or the channel isn't a
    /// presence channel.
    mutating func awaitUser(with auth: PusherAuth) -> Bool {
        guard name.kind == .presence, auth.channelData == nil, case .authorizing(let attempt) = state else { return false }
        state = .awaitingUser(attempt)
        authWithoutUser = auth
        return true
    }

    /// Returns the request for the server, now that it knows the user.
    mutating func userIsKnown() -> ClientMessage? {
        guard case .awaitingUser(let attempt) = state, let auth = authWithoutUser else { return nil }
        return subscribe(attempt, with: auth)
    }

    /// Returns the request for the server, if the authorization is still awaited.
    mutating func subscribe(with auth: PusherAuth) -> ClientMessage? {
        guard case .authorizing(let attempt) = state else { return nil }
        return subscribe(attempt, with: auth)
    }

    private mutating func subscribe(_ attempt: SubscriptionAttempt, with auth: PusherAuth) -> ClientMessage {
        state = .subscribing(attempt)
        request = .made
        myUserID = auth.channelData.flatMap(Self.userID)
        return .subscribe(channel: channel.text, auth: auth.auth, channelData: auth.channelData, options: options)
    }

    private static func userID(in channelData: String) -> Name? {
        do {
            return try JSONValue(parsing: channelData)["user_id"]?.identifier.map { Name($0) }
        } catch {
            return nil  // The server reads the same text and refuses the subscription, which is reported then.
        }
    }

    /// Notes the server's success, and returns what follows from it.
    ///
    /// - Parameter heard: The time up to which everything that arrived before this is known to have been heard.
    mutating func succeeded(_ presence: PresenceSnapshot?, envelope: Envelope, receivedUpTo heard: Instant) -> [Output] {
        // Every server answers each request, in their order.
        if undoneRequests > 0 {
            undoneRequests -= 1
            return []
        }
        var outputs: [Output] = []
        switch state {
        case .subscribing, .subscribed: break
        // It arrived after its time-out, or after the refusal of an earlier request, but it is the reply.
        case .retrying where request != .none, .failed where request != .none, .awaitingUser where request != .none: break
        case .authorizing(let attempt) where request != .none:
            outputs.append(.command(.cancelAuthorization(attempt)))  // As above, with the next attempt under way.
        case .waiting, .authorizing, .awaitingUser, .retrying, .failed:
            return [.log(.subscribedUnasked(channel))]
        }
        let didChange = !isSubscribed
        state = .subscribed
        request = .made
        failures = 0
        latestFailure = nil
        reportedFailure = nil
        notBefore = nil
        if let gap = takeGap() { outputs.append(gap) }
        // A second success on one connection belongs to a second subscription, and events between the two may be missing.
        missingSince = heard
        let changes = replaceRoster(with: presence)
        outputs.append(.deliver(.event(envelope.renamed("pusher:subscription_succeeded"))))
        if didChange { outputs.append(.deliver(.subscribed(channel: channel))) }
        outputs += changes.left.map { .deliver(.memberRemoved(channel: channel, $0)) }
        outputs += changes.joined.map { .deliver(.memberAdded(channel: channel, $0)) }
        return outputs
    }

    /// Returns since when events may be missing, once, if any may be.
    mutating func takeGap() -> Output? {
        missingSince.take().map { .deliver(.gap(channel: channel, since: $0)) }
    }

    /// Replaces the roster, and returns the changes. The members of the very first subscription are the starting point, not
    /// changes.
    private mutating func replaceRoster(with snapshot: PresenceSnapshot?) -> PresenceRoster.Changes {
        guard name.kind == .presence else { return PresenceRoster.Changes() }
        var current = PresenceRoster()
        if let snapshot { current.replace(with: snapshot) }
        defer { roster = current }
        return roster.map { current.changes(since: $0) } ?? PresenceRoster.Changes()
    }

    /// Notes that the server refused the channel by name.
    mutating func refused() {
        request = .refused
    }

    /// Waits, on a new connection, as long as the authorizer asked for; returns false if there is no need to.
    mutating func waitIfAskedTo(at now: Instant) -> Bool {
        guard state == .waiting, let notBefore, notBefore > now else { return false }
        state = .retrying(at: notBefore)
        return true
    }

    /// Notes that the channel isn't subscribed, for now or for good. Returns the authorization that is no longer needed.
    ///
    /// - Parameters:
    ///   - heard: The time up to which everything that arrived before this is known to have been heard.
    ///   - time: The time of the automatic retry; nil if there is none.
    mutating func fail(
        _ failure: SubscriptionFailure, at now: Instant, receivedUpTo heard: Instant, retryingAt time: Instant?
    ) -> SubscriptionAttempt? {
        if isSubscribed { missingSince = heard }
        undoneRequests = 0
        failures += 1
        notBefore = failure.error.retryAfter.map { now + $0 }
        latestFailure = failure.error
        state = time.map { .retrying(at: $0) } ?? .failed
        return encryptedEvents?.subscriptionLost()
    }

    /// Notes that a failure is about to be reported; returns whether it has the reason of the one before it, and may pass.
    mutating func repeats(_ failure: PusherError) -> Bool {
        defer { reportedFailure = failure }
        return failure.isRetryable && reportedFailure?.hasSameReason(as: failure) == true
    }

    /// Notes that the application asked for the channel again, and wants to hear what becomes of it.
    mutating func askedAgain(with auth: PusherAuth?) {
        reportedFailure = nil
        if let auth { suppliedAuth = auth }
    }

    /// Notes the loss of the connection. Returns the authorization that is no longer needed.
    ///
    /// - Parameters:
    ///   - time: The time up to which everything that arrived is known to have been heard.
    ///   - isHeard: Indicates whether events were heard although the channel wasn't subscribed.
    @discardableResult
    mutating func connectionLost(at time: Instant, isHeard: Bool = false) -> SubscriptionAttempt? {
        defer {
            _ = encryptedEvents?.subscriptionLost()
            state = .waiting
        }
        if isSubscribed || isHeard { missingSince = time }
        (request, undoneRequests) = (.none, 0)
        failures = 0
        return authorizationUnderWay
    }

    /// The authorization that is awaited, for the subscription or for a new key.
    var authorizationUnderWay: SubscriptionAttempt? {
        if case .authorizing(let attempt) = state { attempt } else { encryptedEvents?.refresh }
    }

    /// The request that undoes the one that the server got; nil if it got none.
    var abandonment: ClientMessage? { request == .made ? .unsubscribe(channel: channel.text) : nil }

    // MARK: While subscribed

    /// Adds a member; returns the delivery of it, if there is any. Throws if there are too many.
    mutating func memberAdded(_ member: PresenceMember) throws(PusherError) -> Delivery? {
        guard isSubscribed, roster != nil else { return nil }
        guard roster?.admits(member) == true else {
            let user = member.userID.text.inLogLine(upTo: 100)
            let message = "\(channel) has members of \(PresenceRoster.byteLimit) bytes: \(user) is not added"
            throw PusherError(.malformedMessage, message: message)
        }
        return roster?.add(member) == true ? .memberAdded(channel: channel, member) : nil
    }

    /// Removes a member; returns the delivery of it, if there is any. This client's user stays for as long as it is subscribed:
    /// some servers tell of each connection of a user that ends, such as the one that was lost before this one.
    mutating func memberRemoved(_ userID: Name, signedIn: Name?) -> Delivery? {
        guard isSubscribed, userID != myUserID ?? signedIn else { return nil }
        return roster?.remove(userID: userID).map { .memberRemoved(channel: channel, $0) }
    }

    mutating func countChanged(_ count: Int) {
        subscriptionCount = count
    }

    // MARK: Client events

    var hasUnsentEvents: Bool { !unsentEvents.isEmpty }

    /// Lets an event be sent if nothing is in its way; otherwise queues or refuses it.
    mutating func trigger(
        _ event: ClientEvent, queueLimit: Int, byteLimit: Int, limiter: inout ClientEventLimiter, at now: Instant
    ) -> TriggerResult {
        if isSubscribed, unsentEvents.isEmpty {
            guard limiter.isOpen(at: now) else {
                let problem = "\(limiter.perSecond ?? 0) client events were sent within a second: more are not allowed"
                return .refused(PusherError(.tooManyClientEvents, message: problem))
            }
            limiter.count(at: now)
            return .sent
        }
        let size = event.data.utf8.count
        guard unsentEvents.isEmpty || (unsentEvents.count < queueLimit && unsentBytes + size <= byteLimit) else {
            let problem = "\(queueLimit) client events, or \(byteLimit) bytes, wait for the subscription to \(channel) already"
            return .refused(PusherError(.invalidRequest, message: problem, isRetryable: true))
        }
        unsentEvents.append(event)
        unsentBytes += size
        return .queued
    }

    /// Removes and returns the first waiting event, if it may be sent now.
    mutating func takeUnsentEvent() -> ClientEvent? {
        guard isSubscribed, !unsentEvents.isEmpty else { return nil }
        let event = unsentEvents.removeFirst()
        unsentBytes -= event.data.utf8.count
        return event
    }
}

extension ClientEvent {
    var message: ClientMessage { .clientEvent(name: name, channel: channel.text, data: data) }
}
