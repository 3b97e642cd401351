/// One channel the user wants, and how far the wish has come true.
///
/// It exists as long as the wish does, across connections; each connection takes it through authorizing and subscribing anew.
struct SubscriptionMachine: Equatable, Sendable {
    enum State: Equatable, Sendable {
        /// For a connection to be established.
        case waiting
        case authorizing(SubscriptionAttempt)
        /// For the sign-in to come to its end: the authorization leaves it to the user to say who joins.
        case awaitingUser(SubscriptionAttempt)
        case subscribing(SubscriptionAttempt)
        case subscribed
        /// Until it is time to try again.
        case retrying(at: Instant)
        /// Until the user asks again or the next connection is established.
        case failed
    }

    let name: ChannelName
    var channel: Name { name.name }
    /// Channels are subscribed in the order in which they were first asked for.
    var ordinal: Int
    private(set) var state = State.waiting {
        didSet { if !awaitsUser { authWithoutUser = nil } }
    }
    private(set) var subscriptionCount: Int?
    /// The requests that the server got on this connection.
    private enum Request {
        case none
        /// For the channel: it may have subscribed it, silent though it is.
        case made
        /// For the channel, and it said no. That may have been the answer to an earlier request, so its yes still counts.
        case refused
    }

    private var request = Request.none
    /// Tries in a row that failed on this connection.
    private(set) var failures = 0
    /// The failure of the latest try, as long as none succeeded after it.
    private(set) var latestFailure: PusherError?
    /// The time before which who authorizes doesn't want to be asked again; also by the next connection.
    private var notBefore: Instant?

    /// An authorization that the caller brought along. It is used once: its signature is for one connection.
    var suppliedAuth: PusherAuth?
    /// The authorization that waits for the user.
    private var authWithoutUser: PusherAuth?
    /// Of an encrypted channel.
    var encryptedEvents: EncryptedEvents?
    private var myUserID: Name?
    /// Since when nothing that was sent on the channel is known to have come; nil when there is no such time.
    private var missingSince: Instant?
    /// Of the latest subscription, kept while the connection is down so that the next one can tell the difference.
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

    var isEncrypted: Bool { name.kind == .encrypted }

    var awaitsUser: Bool {
        if case .awaitingUser = state { true } else { false }
    }

    var isSubscribing: Bool {
        if case .subscribing = state { true } else { false }
    }

    /// Indicates whether the server has still to say what it thinks of the channel's authorization.
    var awaitsVerdict: Bool { isSubscribing && name.needsAuthorization }

    /// Indicates whether the server may refuse the channel: from the moment it was asked for.
    var mayBeRefused: Bool { isSubscribing || isSubscribed }

    /// Nobody is known to be there while the channel isn't subscribed.
    var presentMembers: PresenceRoster {
        isSubscribed ? roster ?? PresenceRoster() : PresenceRoster()
    }

    /// The user id that this client subscribed with; nil if the authorization named none.
    var me: Name? {
        isSubscribed ? myUserID : nil
    }

    // MARK: On the way to the subscription

    /// The step that follows the first.
    enum NextStep {
        case askForAuthorization
        case use(PusherAuth)
        case awaitResponse
    }

    /// Takes the first step.
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

    /// Returns whether this authorization is still of use.
    func awaits(_ attempt: SubscriptionAttempt) -> Bool {
        state == .authorizing(attempt) || encryptedEvents?.refresh == attempt
    }

    /// Keeps an authorization that doesn't say who joins until the user is known; false if it does, or nobody joins.
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

    /// - Parameter heard: Up to when all that came before this is known to have been heard.
    mutating func succeeded(
        _ presence: PresenceSnapshot?, envelope: Envelope, heardUpTo heard: Instant, into effects: inout [Effect]
    ) {
        switch state {
        case .subscribing, .subscribed: break
        // It came after the time for it or after a refusal of an earlier request, but it is the answer.
        case .retrying where request != .none, .failed where request != .none, .awaitingUser where request != .none: break
        case .authorizing(let attempt) where request != .none:
            effects.append(.cancelAuthorization(attempt))  // The same, while the next try is on its way.
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
        // A second success on one connection is of a second subscription: there may have been a time between the two.
        missingSince = heard
        let changes = replaceRoster(with: presence)
        effects.append(.deliver(.event(envelope.renamed("pusher:subscription_succeeded"))))
        if didChange { effects.append(.deliver(.subscribed(channel: channel))) }
        for member in changes.left { report(removed: member, into: &effects) }
        for member in changes.joined { report(added: member, into: &effects) }
    }

    /// Says since when events may be missing, if there was such a time.
    mutating func tellGap(into effects: inout [Effect]) {
        guard let since = missingSince.take() else { return }
        effects.append(.deliver(.gap(channel: channel, since: since)))
    }

    /// The members of the very first subscription are its starting point, not changes.
    private mutating func replaceRoster(with snapshot: PresenceSnapshot?) -> PresenceRoster.Changes {
        guard name.kind == .presence else { return PresenceRoster.Changes() }
        var current = PresenceRoster()
        if let snapshot { current.replace(with: snapshot) }
        defer { roster = current }
        return roster.map { current.changes(since: $0) } ?? PresenceRoster.Changes()
    }

    /// The server named the channel as one that it doesn't let this client have.
    mutating func refused() {
        request = .refused
    }

    /// Has a connection that was just established wait as long as it was asked to; false if it needn't.
    mutating func waitIfAskedTo(at now: Instant) -> Bool {
        guard state == .waiting, let notBefore, notBefore > now else { return false }
        state = .retrying(at: notBefore)
        return true
    }

    /// Not subscribed, for now or for good.
    ///
    /// - Parameters:
    ///   - heard: Up to when all that came before this is known to have been heard.
    ///   - time: When it is tried again; nil for not by itself.
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
    ///   - time: Up to when all that came is known to have been heard.
    ///   - isHeard: Indicates whether events were heard though it wasn't subscribed.
    mutating func connectionLost(at time: Instant, isHeard: Bool = false, into effects: inout [Effect]) {
        if isSubscribed || isHeard { missingSince = time }
        if case .authorizing(let attempt) = state { effects.append(.cancelAuthorization(attempt)) }
        if let refresh = encryptedEvents?.subscriptionLost() { effects.append(.cancelAuthorization(refresh)) }
        state = .waiting
        request = .none
        failures = 0
    }

    /// Tells the server and the authorizer that the channel is wanted no longer.
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

    /// The description of a member is passed on as the server wrote it.
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

    /// Sends an event if nothing is in its way, otherwise lets it wait its turn.
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

    /// The first of those that waited, if they may be sent now.
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
