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
    var ordinal: Int
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
    /// The number of consecutive attempts that failed on this connection.
    private(set) var failures = 0
    /// The failure of the latest attempt; nil once one succeeds.
    private(set) var latestFailure: PusherError?
    /// The time before which the authorizer asked not to be called again. It also applies to the next connection.
    private var notBefore: Instant?

    /// An authorization supplied by the caller. It is used once: its signature is for one connection.
    var suppliedAuth: PusherAuth?
    /// The authorization that waits for the user.
    private var authWithoutUser: PusherAuth?
    /// The events of an encrypted channel that are still to be decrypted; nil for other channels.
    var encryptedEvents: EncryptedEvents?
    private var myUserID: Name?
    /// The time since which events on the channel may be missing; nil if there is no such time.
    private var missingSince: Instant?
    /// The members in the latest subscription. They are kept while the connection is down, so the next subscription can report
    /// the difference.
    private var roster: PresenceRoster?
    private var unsentEvents: [ClientEvent] = []
    private var unsentBytes = 0

    init(name: ChannelName, ordinal: Int, suppliedAuth: PusherAuth?) {
        self.name = name
        self.ordinal = ordinal
        self.suppliedAuth = suppliedAuth
        encryptedEvents = name.kind == .encrypted ? EncryptedEvents() : nil
    }

    // MARK: State

    var isSubscribed: Bool { state == .subscribed }

    /// Indicates whether it was ever subscribed, so that something may have been missed.
    var wasSubscribed: Bool { missingSince != nil }

    var isEncrypted: Bool { name.kind == .encrypted }

    var awaitsUser: Bool {
        if case .awaitingUser = state { true } else { false }
    }

    var isSubscribing: Bool {
        if case .subscribing = state { true } else { false }
    }

    /// Indicates whether the server has yet to accept or refuse the channel's authorization.
    var awaitsVerdict: Bool { isSubscribing && name.needsAuthorization }

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

    /// The step that follows ``begin(_:into:)``.
    enum NextStep {
        case askForAuthorization
        case use(PusherAuth)
        case awaitResponse
    }

    /// Begins an attempt to subscribe; returns the next step.
    mutating func begin(_ attempt: SubscriptionAttempt, into effects: inout [Effect]) -> NextStep {
        guard name.needsAuthorization else {
            state = .subscribing(attempt)
            request = .made
            effects.append(.send(.subscribe(channel: channel.text, auth: nil, channelData: nil)))
            return .awaitResponse
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

    mutating func userIsKnown(into effects: inout [Effect]) {
        guard case .awaitingUser(let attempt) = state, let auth = authWithoutUser else { return }
        subscribe(attempt, with: auth, into: &effects)
    }

    mutating func subscribe(with auth: PusherAuth, into effects: inout [Effect]) {
        guard case .authorizing(let attempt) = state else { return }
        subscribe(attempt, with: auth, into: &effects)
    }

    private mutating func subscribe(_ attempt: SubscriptionAttempt, with auth: PusherAuth, into effects: inout [Effect]) {
        state = .subscribing(attempt)
        request = .made
        myUserID = auth.channelData.flatMap(Self.userID)
        effects.append(.send(.subscribe(channel: channel.text, auth: auth.auth, channelData: auth.channelData)))
    }

    private static func userID(in channelData: String) -> Name? {
        do {
            return try JSONValue(parsing: channelData)["user_id"]?.identifier.map { Name($0) }
        } catch {
            return nil  // The server reads the same text and refuses the subscription, which is reported then.
        }
    }

    /// - Parameter heard: The time up to which everything that arrived before this is known to have been heard.
    mutating func succeeded(
        _ presence: PresenceSnapshot?, envelope: Envelope, heardUpTo heard: Instant, into effects: inout [Effect]
    ) {
        switch state {
        case .subscribing, .subscribed: break
        // It arrived after its time-out, or after the refusal of an earlier request, but it is the reply.
        case .retrying where request != .none, .failed where request != .none, .awaitingUser where request != .none: break
        case .authorizing(let attempt) where request != .none:
            effects.append(.cancelAuthorization(attempt))  // As above, with the next attempt under way.
        case .waiting, .authorizing, .awaitingUser, .retrying, .failed:
            effects.append(.log(.subscribedUnasked(channel)))
            return
        }
        let didChange = !isSubscribed
        state = .subscribed
        request = .made
        failures = 0
        latestFailure = nil
        notBefore = nil
        tellGap(into: &effects)
        // A second success on one connection belongs to a second subscription, and events between the two may be missing.
        missingSince = heard
        let changes = replaceRoster(with: presence)
        effects.append(.deliver(.event(envelope.renamed("pusher:subscription_succeeded"))))
        if didChange { effects.append(.deliver(.subscribed(channel: channel))) }
        for member in changes.left { report(removed: member, into: &effects) }
        for member in changes.joined { report(added: member, into: &effects) }
    }

    /// Reports since when events may be missing, if any may be.
    mutating func tellGap(into effects: inout [Effect]) {
        guard let since = missingSince.take() else { return }
        effects.append(.deliver(.gap(channel: channel, since: since)))
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

    /// Notes that the channel isn't subscribed, for now or for good.
    ///
    /// - Parameters:
    ///   - heard: The time up to which everything that arrived before this is known to have been heard.
    ///   - time: The time of the automatic retry; nil if there is none.
    mutating func fail(
        _ failure: SubscriptionFailure, at now: Instant, heardUpTo heard: Instant, retryingAt time: Instant?,
        into effects: inout [Effect]
    ) {
        if isSubscribed { missingSince = heard }
        failures += 1
        notBefore = failure.error.retryAfter.map { now + $0 }
        latestFailure = failure.error
        if let refresh = encryptedEvents?.subscriptionLost() { effects.append(.cancelAuthorization(refresh)) }
        state = time.map { .retrying(at: $0) } ?? .failed
        failure.report(channel: channel, into: &effects)
    }

    /// - Parameters:
    ///   - time: The time up to which everything that arrived is known to have been heard.
    ///   - isHeard: Indicates whether events were heard although the channel wasn't subscribed.
    mutating func connectionLost(at time: Instant, isHeard: Bool = false, into effects: inout [Effect]) {
        if isSubscribed || isHeard { missingSince = time }
        if case .authorizing(let attempt) = state { effects.append(.cancelAuthorization(attempt)) }
        if let refresh = encryptedEvents?.subscriptionLost() { effects.append(.cancelAuthorization(refresh)) }
        state = .waiting
        request = .none
        failures = 0
    }

    /// Tells the server and the authorizer that the channel is no longer wanted.
    func abandon(into effects: inout [Effect]) {
        if let refresh = encryptedEvents?.refresh { effects.append(.cancelAuthorization(refresh)) }
        if case .authorizing(let attempt) = state { effects.append(.cancelAuthorization(attempt)) }
        if request == .made { effects.append(.send(.unsubscribe(channel: channel.text))) }
    }

    // MARK: While subscribed

    mutating func memberAdded(_ member: PresenceMember, into effects: inout [Effect]) {
        guard isSubscribed, roster?.admits(member) == true else { return reject(member, into: &effects) }
        if roster?.add(member) == true { report(added: member, into: &effects) }
    }

    private func reject(_ member: PresenceMember, into effects: inout [Effect]) {
        guard isSubscribed, roster != nil else { return }
        let user = member.userID.text.inLogLine(upTo: 100)
        let message = "\(channel) has members of \(PresenceRoster.byteLimit) bytes: \(user) is not added"
        effects.append(.deliver(.error(PusherError(.malformedMessage, message: message))))
    }

    mutating func memberRemoved(_ userID: Name, into effects: inout [Effect]) {
        guard isSubscribed, let member = roster?.remove(userID: userID) else { return }
        report(removed: member, into: &effects)
    }

    private func report(added member: PresenceMember, into effects: inout [Effect]) {
        effects.append(.deliver(.event(memberEvent("pusher:member_added", member, info: member.info))))
        effects.append(.deliver(.memberAdded(channel: channel, member)))
    }

    private func report(removed member: PresenceMember, into effects: inout [Effect]) {
        effects.append(.deliver(.event(memberEvent("pusher:member_removed", member))))
        effects.append(.deliver(.memberRemoved(channel: channel, member)))
    }

    /// Returns the event for a member. The member's description is passed on as the server wrote it.
    private func memberEvent(_ event: Name, _ member: PresenceMember, info: JSONText? = nil) -> Envelope {
        let info = info.map { ",\"user_info\":\($0.text)" } ?? ""
        return Envelope(event: event, channel: channel, data: "{\"user_id\":\(member.userID.text.quotedJSON)\(info)}")
    }

    mutating func countChanged(_ count: Int, envelope: Envelope, into effects: inout [Effect]) {
        subscriptionCount = count
        effects.append(.deliver(.event(envelope.renamed("pusher:subscription_count"))))
        effects.append(.deliver(.subscriptionCount(channel: channel, count)))
    }

    // MARK: Client events

    var hasUnsentEvents: Bool { !unsentEvents.isEmpty }

    /// Sends an event if nothing is in its way; otherwise queues or refuses it.
    mutating func trigger(
        _ event: ClientEvent, queueLimit: Int, byteLimit: Int, limiter: inout ClientEventLimiter, at now: Instant,
        into effects: inout [Effect]
    ) -> TriggerResult {
        if isSubscribed, unsentEvents.isEmpty {
            guard limiter.isOpen(at: now) else {
                let problem = "\(limiter.perSecond ?? 0) client events were sent within a second: more are not allowed"
                return .refused(PusherError(.rateLimited, message: problem))
            }
            limiter.count(at: now)
            effects.append(.send(event.message))
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
