/// Which channel a server means when it says no.
extension ConnectionMachine {
    mutating func subscriptionRefused(
        _ channel: Name, _ error: PusherError, at now: Instant, into effects: inout [Effect]
    ) {
        guard subscriptions[channel]?.mayBeRefused == true else { return }
        subscriptions[channel]?.refused()
        subscriptionFailed(channel, SubscriptionFailure(error: error), at: now, into: &effects)
        attributeRefusals(at: now, into: &effects)
    }

    /// Takes an error for the refusal of the channel that it names, beside its data or in its words; false if it names none that is
    /// awaited. A success that comes after all counts: the error may have been about an earlier request.
    mutating func attributeToNamedChannel(
        _ error: PusherError, _ envelope: Envelope, at now: Instant, into effects: inout [Effect]
    ) -> Bool {
        guard error.mayBeRefusal, let channel = awaitedChannel(envelope.channel, orIn: error.message) else {
            return false
        }
        refuse(channel, with: error, at: now, into: &effects)
        attributeRefusals(at: now, into: &effects)
        return true
    }

    private func awaitedChannel(_ named: Name?, orIn words: String) -> Name? {
        if let named { return subscriptions[named]?.isSubscribing == true ? named : nil }
        // Any word may be the name of a public channel, which is hardly ever refused.
        return ErrorWords.names(in: words).first { subscriptions[$0]?.awaitsVerdict == true }
    }

    /// Some servers refuse an authorization by an error that names no channel. Once there are as many of these as authorized subscriptions
    /// under way, each of them was refused. Before that, nobody knows which ones were: other answers may tell, or the time for them.
    mutating func noteUnnamedRefusal(_ error: PusherError, at now: Instant, into effects: inout [Effect]) {
        guard error.code == 4009 else { return }
        if unnamedRefusals.isEmpty { verdictsMissing = 0 }
        unnamedRefusals.append(error)
        attributeRefusals(at: now, into: &effects)
    }

    /// An authorized subscription got its answer, or another error was noted: perhaps it is known now which channels were refused.
    mutating func attributeRefusals(at now: Instant, into effects: inout [Effect]) {
        guard !unnamedRefusals.isEmpty else { return }
        // Thousands may be awaited. Each answer and each refusal brings the two numbers nearer by one at most, so that they needn't be
        // compared before as many have come as were missing.
        verdictsMissing -= 1
        guard verdictsMissing <= 0 else { return }
        let awaited = subscriptions.values.filter(\.awaitsVerdict).sorted { $0.ordinal < $1.ordinal }
        guard awaited.count <= unnamedRefusals.count else {
            return verdictsMissing = awaited.count - unnamedRefusals.count
        }
        let refusals = unnamedRefusals
        unnamedRefusals = []
        for (subscription, error) in zip(awaited, refusals) { refuse(subscription.channel, with: error, at: now, into: &effects) }
    }

    /// A channel got no answer, or was given up before it: one of the refusals may have been its own.
    mutating func forgetUnnamedRefusal(ifOf subscription: SubscriptionMachine?) {
        if subscription?.awaitsVerdict == true { _ = unnamedRefusals.popLast() }
    }

    private mutating func refuse(_ channel: Name, with error: PusherError, at now: Instant, into effects: inout [Effect]) {
        let refusal = PusherError(.subscriptionRefused, code: error.code, message: error.message)
        subscriptionFailed(channel, SubscriptionFailure(error: refusal), at: now, into: &effects)
    }
}

extension PusherError {
    /// Indicates whether it can be a no to a subscription or to a sign-in: not what is about client events (4301) or a watchlist (4302), nor what says
    /// that the subscription is there already, or isn't there to be given up.
    var mayBeRefusal: Bool {
        if code == 4301 || code == 4302 { return false }
        return !["Existing subscription", "No current subscription"].contains { message.utf8.starts(with: $0.utf8) }
    }
}

/// The names in what a server says for people to read.
enum ErrorWords {
    /// Nobody explains an error at greater length.
    private static let longestMessage = 4096
    private static let longestWord = 512

    /// Returns the words that may be a channel's name: each word as it is, without punctuation at its end, and what stands behind its
    /// colons or between them, as in `Expected HMAC SHA256 hex digest of 1.2:private-room, but got …`.
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
