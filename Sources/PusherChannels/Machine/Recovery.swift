/// The requests by which a Sockudo server replays what channels missed: one replay at a time, and two pages of history.
struct Recovery: Equatable, Sendable {
    /// Fewer events than this may be asked for at a time: the server ends the connection rather than send a thousand frames.
    static let replayLimit = 900
    private static let pageLimit = 2

    /// The places that an earlier process stored, of channels that nobody asked for yet.
    var stored: [Name: StreamPosition]
    /// The channels that wait for their turn.
    var waiting = WaitingChannels()
    /// The channels whose replay was asked for last, until the answer.
    private(set) var underWay: [Name] = []
    /// The number of the last request, by which its deadline is known.
    private(set) var number = 0
    private var isUnanswered = false
    /// The channels whose history is to be read, and those that wait for an answer.
    var pagesWaiting = WaitingChannels()
    private(set) var pagesUnderWay: Set<Name> = []
    /// The number of connections in a row that were lost before a replay was answered.
    private var losses = 0
    /// The number of the last step, by which its deadline is known.
    var step = 0
    /// The number of bytes that are held for all channels.
    var heldBytes = 0

    /// Indicates whether a server that didn't answer, or ends connections instead, is left alone until the next connection.
    private(set) var isOff = false

    init(stored: [Name: StreamPosition]) {
        self.stored = stored
    }

    // MARK: Replays

    /// Indicates whether a replay may be asked for now.
    var mayAsk: Bool { !isUnanswered && !waiting.isEmpty }

    /// Takes the first channels that wait, as long as `admits` them.
    mutating func takeWaiting(while admits: (Name) -> Bool) -> [Name] {
        var channels: [Name] = []
        while let channel = waiting.first, admits(channel) {
            waiting.removeFirst()
            channels.append(channel)
        }
        return channels
    }

    /// Notes that a replay was asked for; returns the number of the request.
    mutating func asked(for channels: [Name]) -> Int {
        (underWay, isUnanswered) = (channels, true)
        number += 1
        return number
    }

    func awaits(_ number: Int) -> Bool { isUnanswered && number == self.number }

    /// Ends the request, and returns its channels. An answer that doesn't come is the last that is asked for.
    mutating func answered(inTime: Bool = true) -> [Name] {
        defer { underWay = [] }
        isUnanswered = false
        losses = 0
        if !inTime { isOff = true }
        return underWay
    }

    // MARK: Pages

    /// Indicates whether a page may be asked for now.
    var mayPage: Bool { !pagesWaiting.isEmpty && pagesUnderWay.count < Self.pageLimit }

    /// Takes the next channel whose history may be asked for now.
    mutating func takeNextPage() -> Name? {
        guard pagesUnderWay.count < Self.pageLimit, let channel = pagesWaiting.first else { return nil }
        pagesWaiting.removeFirst()
        pagesUnderWay.insert(channel)
        return channel
    }

    /// Notes that the page's successor was asked for.
    mutating func awaitNextPage(of channel: Name) {
        pagesUnderWay.insert(channel)
    }

    /// Returns whether the page was awaited.
    mutating func pageCame(of channel: Name) -> Bool { pagesUnderWay.remove(channel) != nil }

    // MARK: The connection

    mutating func connectionLost() {
        // After two in a row, one connection goes without.
        losses = isOff ? min(losses, 1) : isUnanswered ? losses + 1 : losses
        isOff = losses >= 2
        (waiting, underWay, isUnanswered) = (WaitingChannels(), [], false)
        (pagesWaiting, pagesUnderWay, heldBytes) = (WaitingChannels(), [], 0)
    }
}

/// Channels in the order in which they began to wait, each once: a server may let one succeed again and again meanwhile.
struct WaitingChannels: Equatable, Sendable {
    private var order = Deque<Name>()
    private var known: Set<Name> = []

    var first: Name? { order.first }
    var count: Int { known.count }
    var isEmpty: Bool { known.isEmpty }

    mutating func append(_ channel: Name) {
        if known.insert(channel).inserted { order.append(channel) }
    }

    mutating func removeFirst() {
        if let channel = order.popFirst() { known.remove(channel) }
    }
}
