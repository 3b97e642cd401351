/// Recovery on a Sockudo server: what channels missed is replayed, so there is no gap. ``ChannelRecovery`` decides for a channel.
extension ConnectionMachine {
    /// Handles a success by which the server may replay what the channel missed.
    mutating func recover(_ channel: Name, _ news: [Output], _ envelope: Envelope, at now: Instant) {
        guard subscriptions[channel]?.isSubscribed == true else { return outputs += news }
        let head = envelope.position.map { ChannelRecovery.Head(position: $0, attachSerial: envelope.attachSerial) }
        if subscriptions[channel]?.recovery == nil { subscriptions[channel]?.recovery = ChannelRecovery() }
        // A second success on one connection: the first one's replay doesn't cover what came between the two.
        if changeRecovery(of: channel, { !$0.isLive }) == true { missed(channel, at: now) }
        forgetPage(of: channel)
        let heard = session.receivedBefore ?? now
        let options = subscriptions[channel]?.options
        if let options { subscriptions[channel]?.options = options.withoutRewind }
        outputs += changeRecovery(of: channel) { $0.succeeded(head, news, options, of: channel, receivedUpTo: heard) } ?? news
        if changeRecovery(of: channel, { $0.phase == .rewinding }) == true {
            setStep(of: channel, at: now + timeForUnreadReplies)
        }
        if recovery.heldBytes > configuration.heldEventByteLimit { missed(channel, at: now) }
        awaitReplay(channel, at: now)
    }

    /// Gives what came live while past events were sent, now that those have come.
    mutating func rewound(_ channel: Name, at now: Instant) {
        guard changeRecovery(of: channel, { $0.phase == .rewinding }) == true else { return }
        end(changeRecovery(of: channel) { $0.replayed(upTo: nil, of: channel) }, of: channel, at: now)
    }

    /// Passes a channel's event on, unless it has to wait or was had.
    mutating func receive(_ envelope: Envelope, of channel: Name, at now: Instant) {
        switch changeRecovery(of: channel, { $0.receive(envelope) }) {
        case .drop: break
        case .hold: if recovery.heldBytes > configuration.heldEventByteLimit { missed(channel, at: now) }
        case .give, nil:
            give(envelope, of: channel)
            lookForMissing(in: channel, at: now)
        }
    }

    mutating func remember(_ event: ClientEvent) {
        guard configuration.protocol == .sockudo else { return }
        changeRecovery(of: event.channel) { $0.sent(Envelope(event: Name(event.name), data: event.data)) }
    }

    /// Gives an event to the application. What was held is bounded already, and all of it is decrypted.
    private mutating func give(_ envelope: Envelope, of channel: Name, wasHeld: Bool = false) {
        let isOwn = envelope.event.begins(with: "pusher:") || envelope.event.equals("sockudo:rewind_complete")
        if subscriptions.look(at: channel, { $0.isEncrypted }) == true, !isOwn {
            encryptedEvent(envelope, of: channel, wasHeld: wasHeld)
        } else {
            outputs.append(.deliver(.event(envelope)))
        }
    }

    @discardableResult
    private mutating func changeRecovery<Result>(of channel: Name, _ body: (inout ChannelRecovery) -> Result) -> Result? {
        let change = subscriptions.look(at: channel) { subscription in
            let before = subscription.recovery?.heldBytes ?? 0
            let result = subscription.recovery?.change(body)
            return (result, (subscription.recovery?.heldBytes ?? 0) - before)
        }
        guard let (result, bytes) = change else { return nil }
        recovery.heldBytes += bytes
        return result
    }

    // MARK: Replays

    /// Has a channel wait for its turn, if it needs a replay.
    private mutating func awaitReplay(_ channel: Name, at now: Instant) {
        guard changeRecovery(of: channel, { $0.phase == .waiting }) == true else { return }
        recovery.waiting.append(channel)
        askForReplays(at: now)
    }

    private mutating func askForReplays(at now: Instant) {
        while recovery.mayAsk {
            if recovery.isOff {
                for channel in recovery.takeWaiting(while: { _ in true }) { missed(channel, at: now) }
                return
            }
            if let first = recovery.waiting.first, subscriptions[first]?.recovery?.expected ?? 0 >= Recovery.replayLimit {
                _ = recovery.takeWaiting { $0 == first }
                page(first, at: now)
                continue
            }
            var room = Recovery.replayLimit
            let channels = recovery.takeWaiting { [self] channel in
                // One that missed nothing counts, too: a request for ten thousand channels would be a megabyte.
                room -= max(subscriptions[channel]?.recovery?.expected ?? 0, 1)
                return room > 0
            }
            var positions: [Name: StreamPosition] = [:]
            for channel in channels where subscriptions[channel]?.recovery?.expected != nil {
                changeRecovery(of: channel) { $0.begin(.resuming) }
                positions[channel] = subscriptions[channel]?.recovery?.request
            }
            if positions.isEmpty { continue }
            outputs.append(.command(.send(.resume(positions))))
            let number = recovery.asked(for: channels)
            setReplayDeadline(number, at: now)
        }
    }

    private mutating func setReplayDeadline(_ number: Int, at now: Instant) {
        let key = SubscriptionDeadline(channel: "", awaited: .replay(number))
        subscriptions.deadlines.insert(key, at: now + timeForUnreadReplies)
    }

    mutating func resumed(_ answer: ResumeAnswer, at now: Instant) {
        // One that names none of them is late.
        guard recovery.underWay.contains(where: { answer.recovered[$0] != nil || answer.failed[$0] != nil }) else { return }
        for channel in recovery.answered() where subscriptions[channel]?.recovery?.phase == .resuming {
            if let failure = answer.failed[channel] {
                refused(channel, failure, at: now)
            } else if let place = answer.recovered[channel] {
                end(changeRecovery(of: channel) { $0.replayed(upTo: place, of: channel) }, of: channel, at: now)
            } else {
                missed(channel, at: now)
            }
        }
        askForReplays(at: now)
    }

    private mutating func refused(_ channel: Name, _ failure: ResumeAnswer.Failure, at now: Instant) {
        outputs.append(.log(.notRecovered(channel, problem: "\(failure.code): \(failure.reason)")))
        if let delay = changeRecovery(of: channel, { $0.refused(failure) }) ?? nil {
            setStep(of: channel, at: now + delay)
        } else if failure.names("position_expired"), subscriptions[channel]?.recovery?.reads == 0 {
            page(channel, at: now)
        } else {
            missed(channel, at: now)
        }
    }

    /// Gives the replays up that a request asked for, as no answer came.
    mutating func replayTimedOut(_ number: Int, at now: Instant) {
        if isReadingPaused { return setReplayDeadline(number, at: now) }
        giveUpReplays("no answer within \(timeForUnreadReplies)", at: now)
    }

    /// Takes an error as the answer to a request for replays, if it reads like one; returns whether it did.
    mutating func attributeToReplay(_ error: PusherError, at now: Instant) -> Bool {
        let words = error.message
        guard configuration.protocol == .sockudo, !recovery.underWay.isEmpty, words.mentions("recovery", or: "resume")
        else { return false }
        giveUpReplays(words, at: now)
        return true
    }

    private mutating func giveUpReplays(_ problem: String, at now: Instant) {
        for channel in recovery.answered(inTime: false) where subscriptions[channel]?.recovery?.phase == .resuming {
            outputs.append(.log(.notRecovered(channel, problem: problem)))
            missed(channel, at: now)
        }
        askForReplays(at: now)
    }

    /// Tells the gap of a channel whose replay is given up, and gives what was held.
    private mutating func missed(_ channel: Name, at now: Instant) {
        forgetPage(of: channel)
        end(changeRecovery(of: channel) { $0.missed(channel) }, of: channel, at: now)
    }

    private mutating func end(_ end: ChannelRecovery.End?, of channel: Name, at now: Instant) {
        guard let end else { return }
        outputs += end.before
        for envelope in end.replayed { give(envelope, of: channel, wasHeld: true) }
        outputs += end.news
        for envelope in end.later { give(envelope, of: channel, wasHeld: true) }
        lookForMissing(in: channel, at: now)
    }

    // MARK: The history

    /// Has the history read instead of a replay, or gives up.
    private mutating func page(_ channel: Name, at now: Instant) {
        guard changeRecovery(of: channel, { $0.page }) ?? nil != nil else { return missed(channel, at: now) }
        changeRecovery(of: channel) { $0.begin(.paging) }
        recovery.pagesWaiting.append(channel)
    }

    mutating func askForPages(at now: Instant) {
        while let channel = recovery.takeNextPage() {
            if let serials = subscriptions[channel]?.recovery?.asked {
                askForPage(of: channel, serials, cursor: nil, at: now)
            } else {
                forgetPage(of: channel)
            }
        }
    }

    private mutating func askForPage(of channel: Name, _ serials: ClosedRange<Int>, cursor: String?, at now: Instant) {
        outputs.append(.command(.send(.history(channel: channel.text, serials: serials, cursor: cursor))))
        setStep(of: channel, at: now + timeForUnreadReplies)
    }

    mutating func pageCame(_ page: HistoryPage, of channel: Name, at now: Instant) {
        // It may be late, and others are asked for by now.
        if let serials = page.serials, serials != subscriptions[channel]?.recovery?.asked { return }
        // Not the whole state, whose copy would have what is held copied, too.
        guard recovery.pageCame(of: channel), let isPaging = subscriptions[channel]?.recovery.map({ $0.phase == .paging }) else {
            return
        }
        for envelope in page.events {
            guard envelope.channel == channel, let verdict = changeRecovery(of: channel, { $0.takeOld(envelope) }) ?? nil else {
                return pageFailed(channel, at: now)
            }
            if verdict == .give { give(envelope, of: channel) }
        }
        // A page that goes no further has no next one, or they might never end.
        let goesOn = changeRecovery(of: channel) { $0.goesOn(to: page.events.compactMap { $0.position?.serial }.max()) }
        if let cursor = page.cursor, goesOn == true, let serials = subscriptions[channel]?.recovery?.asked {
            recovery.awaitNextPage(of: channel)
            return askForPage(of: channel, serials, cursor: cursor, at: now)
        }
        let isRead = isPaging || changeRecovery(of: channel) { $0.isRead } == true
        if page.isComplete, !isRead, changeRecovery(of: channel, { $0.asksAgain() }) == true {
            return setStep(of: channel, at: now + .milliseconds(300))
        }
        guard page.isComplete, isRead else { return pageFailed(channel, at: now) }
        if !isPaging { return filled(channel, at: now) }
        changeRecovery(of: channel) { $0.hasRead() }
        awaitReplay(channel, at: now)
    }

    private mutating func pageFailed(
        _ channel: Name, problem: String = "the history doesn't have what is missing", at now: Instant
    ) {
        outputs.append(.log(.notRecovered(channel, problem: problem)))
        guard changeRecovery(of: channel, { $0.isLive }) == true else { return missed(channel, at: now) }
        if changeRecovery(of: channel, { $0.stillMisses() }) == true {
            let since = changeRecovery(of: channel) { $0.missing?.since } ?? nil
            outputs.append(.deliver(.gap(channel: channel, since: since ?? now)))
        }
        filled(channel, at: now)
    }

    // MARK: Missing events

    /// Has a serial that is missing asked for, if it doesn't come soon: servers may send events in another order.
    private mutating func lookForMissing(in channel: Name, at now: Instant) {
        let heard = session.receivedBefore ?? now
        if let since = changeRecovery(of: channel, { $0.losesSight(receivedUpTo: heard) }) ?? nil {
            forgetPage(of: channel)
            outputs.append(.deliver(.gap(channel: channel, since: since)))
        }
        guard changeRecovery(of: channel, { $0.misses(receivedUpTo: heard) }) == true else { return }
        setStep(of: channel, at: now + .milliseconds(300))
    }

    private mutating func filled(_ channel: Name, at now: Instant) {
        changeRecovery(of: channel) { $0.filled() }
        lookForMissing(in: channel, at: now)
    }

    // MARK: Deadlines

    private mutating func setStep(of channel: Name, at time: Instant) {
        recovery.step += 1
        changeRecovery(of: channel) { [step = recovery.step] in $0.step = step }
        subscriptions.deadlines.insert(SubscriptionDeadline(channel: channel, awaited: .recovery(recovery.step)), at: time)
    }

    mutating func recoveryDeadlineReached(_ channel: Name, at now: Instant) {
        guard let state = subscriptions[channel]?.recovery else { return }
        let isUnanswered = recovery.pagesUnderWay.contains(channel)
        if isUnanswered || state.phase == .rewinding, isReadingPaused {
            return setStep(of: channel, at: now + timeForUnreadReplies)
        }
        switch state.phase {
        case .retrying:
            changeRecovery(of: channel) { $0.begin(.waiting) }
            awaitReplay(channel, at: now)
        case .live where !isUnanswered:
            guard changeRecovery(of: channel, { $0.stillMisses() }) == true else { return lookForMissing(in: channel, at: now) }
            recovery.pagesWaiting.append(channel)
        case .live, .paging, .rewinding:
            forgetPage(of: channel)
            pageFailed(channel, problem: "no answer within \(timeForUnreadReplies)", at: now)
        case .waiting, .resuming: break
        }
    }

    /// The places that an earlier process stored, of channels of which nothing was replayed yet.
    var storedPositions: [Name: StreamPosition] {
        subscriptions.all.reduce(into: recovery.stored) { result, subscription in
            if let place = subscription.recovery?.storedPosition { result[subscription.channel] = place }
        }
    }

    // MARK: Losses

    /// Notes the loss of the connection. A replay that was asked for may have failed because of it, and isn't asked for again.
    mutating func recoveryLost(at now: Instant) {
        guard configuration.protocol == .sockudo else { return }
        for channel in recovery.underWay where subscriptions[channel]?.recovery?.phase == .resuming {
            var missed = changeRecovery(of: channel) { $0.missed(channel) }
            missed?.news = []  // Nothing is subscribed any more.
            end(missed, of: channel, at: now)
        }
        for subscription in subscriptions.all where subscription.recovery != nil { interruptRecovery(of: subscription.channel) }
        recovery.connectionLost()
    }

    /// Forgets a channel that was given up.
    mutating func forgetRecovery(of subscription: SubscriptionMachine?) {
        guard let subscription, let state = subscription.recovery else { return }
        recovery.heldBytes -= state.heldBytes
        forgetPage(of: subscription.channel)
    }

    /// Stops awaiting a page that may never come, so that the next channel's is asked for.
    private mutating func forgetPage(of channel: Name) { _ = recovery.pageCame(of: channel) }

    /// Notes that a channel isn't subscribed any more.
    mutating func interruptRecovery(of channel: Name) {
        changeRecovery(of: channel) { $0.lost() }
        forgetPage(of: channel)
    }
}
