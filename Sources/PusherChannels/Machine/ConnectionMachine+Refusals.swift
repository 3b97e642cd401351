/// Attribution of a server's refusals to channels.
extension ConnectionMachine {
    mutating func subscriptionRefused(
        _ channel: Name, _ error: PusherError, at now: Instant
    ) {
        // Servers answer in order, so that this answers the oldest of several requests.
        guard subscriptions[channel]?.mayBeRefused == true, !subscriptions.hasUndone(channel) else {
            return subscriptions.refusedUndone(channel)
        }
        subscriptions[channel]?.refused()
        subscriptionFailed(channel, SubscriptionFailure(error: error), at: now)
        attributeRefusals(at: now)
    }

    /// Takes an error for the refusal of the channel that it names, beside its data or in its message; returns false if it names
    /// none that awaits a reply. A later success still counts: the error may have been about an earlier request.
    mutating func attributeToNamedChannel(
        _ error: PusherError, _ envelope: Envelope, at now: Instant
    ) -> Bool {
        guard error.mayBeRefusal else { return false }
        guard let channel = awaitedChannel(envelope.channel, orIn: error.message) else {
            let names = envelope.channel.map { [$0] } ?? ErrorWords.names(in: error.message).filter(\.needsAuthorization)
            guard let undone = names.first(where: subscriptions.hasUndone) else { return false }
            subscriptions.refusedUndone(undone)
            return true
        }
        refuse(channel, with: error, at: now)
        attributeRefusals(at: now)
        return true
    }

    private func awaitedChannel(_ named: Name?, orIn words: String) -> Name? {
        if let named { return subscriptions[named]?.isSubscribing == true && !subscriptions.hasUndone(named) ? named : nil }
        // Public channels are left out: any word may be the name of one, and they are hardly ever refused.
        return ErrorWords.names(in: words).first { subscriptions[$0]?.awaitsVerdict == true && !subscriptions.hasUndone($0) }
    }

    /// Notes an error that names no channel and may refuse one. If a single subscription is under way, it is that one's refusal.
    ///
    /// Some servers send such a refusal for each authorization. Once there are as many of these as authorized subscriptions under
    /// way, each of them was refused. Before that, it isn't known which ones were: other replies or time-outs may tell.
    mutating func noteUnnamedRefusal(_ error: PusherError, at now: Instant) {
        guard error.mayBeUnnamedRefusal else { return }
        let isAboutOptions = subscriptions.unansweredWithOptions == 1 && error.message.mentions("rewind", or: "filter")
        // A request that was undone was mostly made before the others. If it wasn't, a time-out of theirs quotes the error.
        let mayBeUndone = error.code == CloseCode.unauthorized || subscriptions.unanswered == 1
        if mayBeUndone, !isAboutOptions, let undone = subscriptions.oldestUndone {
            if subscriptions.unanswered > 0 { subscriptions.unattributedError = error }
            return subscriptions.refusedUndone(undone)
        }
        guard subscriptions.unanswered > 0 else { return }
        if isAboutOptions || subscriptions.unanswered == 1,
            let only = subscriptions.all.first(where: { $0.isSubscribing && (!isAboutOptions || $0.options != nil) })
        {
            return refuse(only.channel, with: error, at: now)
        }
        subscriptions.unattributedError = error
        guard error.code == CloseCode.unauthorized else { return }
        subscriptions.unnamedRefusals.append(error)
        attributeRefusals(at: now)
    }

    /// Attributes the noted refusals if it is known by now which channels were refused. Called after each reply to a subscription
    /// and each new refusal.
    mutating func attributeRefusals(at now: Instant) {
        guard !subscriptions.unnamedRefusals.isEmpty, subscriptions.unansweredAuthorized <= subscriptions.unnamedRefusals.count
        else { return }
        let awaited = subscriptions.inOrder(where: \.awaitsVerdict)
        let refusals = subscriptions.unnamedRefusals
        subscriptions.unnamedRefusals = []
        for (subscription, error) in zip(awaited, refusals) { refuse(subscription.channel, with: error, at: now) }
    }

    /// Forgets a refusal if a channel got no reply or was given up before it: one of the refusals may have been its own.
    mutating func forgetUnnamedRefusal(ifOf subscription: SubscriptionMachine?) {
        guard let subscription, subscription.awaitsVerdict, subscriptions.unnamedRefusals.popLast() != nil else { return }
        subscriptions.answeredUndone(subscription.channel)
    }

    private mutating func refuse(_ channel: Name, with error: PusherError, at now: Instant) {
        let refusal = PusherError(.subscriptionRefused, code: error.code, message: error.message)
        subscriptionFailed(channel, SubscriptionFailure(error: refusal), at: now)
    }
}

extension PusherError {
    /// Indicates whether the error can refuse a subscription although it names none: with the code of a failed authorization, or
    /// as some servers put it, with a code of another meaning or none at all.
    var mayBeUnnamedRefusal: Bool {
        mayBeRefusal && [nil, 4000, CloseCode.unauthorized, 4300].contains(code)
    }

    /// Indicates whether the error can refuse a subscription or a sign-in. Errors about client events (4301) or a watchlist
    /// (4302) can't, and neither can those that say that the subscription or the user is there already, or that a subscription to
    /// be given up isn't.
    var mayBeRefusal: Bool {
        if code == 4301 || code == 4302 { return false }
        return !["Existing subscription", "No current subscription", "Connection is already signed in"].contains {
            message.utf8.starts(with: $0.utf8)
        }
    }
}

extension String {
    /// Returns whether a server's words contain one of these.
    func mentions(_ word: StaticString, or other: StaticString) -> Bool {
        var text = self
        return text.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            return bytes.contains(word) || bytes.contains(other)
        }
    }
}

/// The channel names in a server's human-readable message.
enum ErrorWords {
    /// The number of bytes that are searched. No server explains an error at greater length.
    private static let longestMessage = 4096
    private static let longestWord = 512

    /// Returns the words that may be a channel's name: each word as it is, each without punctuation at its end, and the parts
    /// after or between its colons, as in `Expected HMAC SHA256 hex digest of 1.2:private-room, but got …`.
    static func names(in message: String) -> [Name] {
        let words = message.utf8.prefix(longestMessage).split { " \t\r\n\"'`()<>".utf8.contains($0) }
        return words.filter { $0.count <= longestWord }.flatMap { word in
            let colons = word.indices.filter { word[$0] == UInt8(ascii: ":") }.prefix(8)
            let after = colons.map { word[word.index(after: $0)...] }
            let parts = [word] + after + after.map { $0.prefix { $0 != UInt8(ascii: ":") } }
            return parts.flatMap { [$0, withoutPunctuation($0)] }.map { Name(String(decoding: $0, as: UTF8.self)) }
        }
    }

    private static func withoutPunctuation(_ word: Substring.UTF8View) -> Substring.UTF8View {
        guard let last = word.lastIndex(where: { !".,;:!?".utf8.contains($0) }) else { return word.prefix(0) }
        return word[...last]
    }
}

extension Name {
    fileprivate var needsAuthorization: Bool { ChannelName(text).needsAuthorization }
}
