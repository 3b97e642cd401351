extension ChannelRecovery {
    /// What becomes of an event.
    enum Verdict: Equatable {
        case give
        /// The application has it.
        case drop
        case hold
    }

    /// What is to be given and told at the end of a replay, in this order.
    struct End {
        var before: [Output] = []
        var replayed: [Envelope] = []
        var news: [Output] = []
        var later: [Envelope] = []
    }
}

extension Envelope {
    /// The number of bytes that count while it is held. A short one takes more than its text.
    var heldSize: Int { max(size, 128) }
}

/// What is told of a subscription's success, as far as a replay delays or changes it.
extension Output {
    /// Adds the place from which new readers of the channel read.
    func from(_ place: ReadPlace) -> Output {
        guard case .deliver(.subscribed(let channel, _)) = self else { return self }
        return .deliver(.subscribed(channel: channel, place: place))
    }

    var gapSince: Instant? {
        if case .deliver(.gap(_, let since)) = self { since } else { nil }
    }

    var heldSize: Int {
        if case .deliver(.event(let envelope)) = self { envelope.heldSize } else { 0 }
    }

    var isAboutMembers: Bool {
        switch self {
        case .deliver(.memberAdded), .deliver(.memberRemoved): true
        default: false
        }
    }
}
