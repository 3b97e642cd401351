/// The account of the elements that a stream dropped, for an element that tells its reader of them where they would have stood.
struct StreamGap<Element: Sendable>: Sendable {
    /// Makes the element that tells of those that were dropped since a time.
    let makeElement: @Sendable (Instant) -> Element

    /// When each element that waits came, where the oldest is dropped. For one that tells of a gap, when the gap began: the time that is told
    /// must not be later than the first event that is missing.
    private var arrivals: ArraySlice<Instant> = []
    /// When the element that was taken last came.
    private var latestTaken: Instant?
    /// Since when elements are missing that were older than all that wait.
    private var leadingSince: Instant?
    /// Indicates whether the newest that waits tells of a gap already.
    private var isTrailing = false

    init(makeElement: @escaping @Sendable (Instant) -> Element) {
        self.makeElement = makeElement
    }

    // MARK: Where the oldest is dropped

    mutating func appended(at now: Instant) {
        arrivals.append(now)
    }

    mutating func droppedOldest() {
        guard let arrival = arrivals.popFirst() else { return }
        leadingSince = min(leadingSince ?? arrival, arrival)
    }

    /// Indicates whether elements are missing that were older than all that wait.
    var isLeading: Bool { leadingSince != nil }

    /// The element that stands before the oldest that waits; nil if nothing is missing there.
    mutating func takeLeading() -> Element? {
        guard let since = leadingSince.take() else { return nil }
        // As old as what it tells of, should it be put back and dropped.
        latestTaken = since
        return makeElement(since)
    }

    mutating func tookOldest() {
        latestTaken = arrivals.popFirst()
    }

    /// So many of those that were taken wait again.
    mutating func putBack(_ count: Int) {
        guard let latestTaken else { return }
        arrivals = ArraySlice(repeatElement(latestTaken, count: count)) + arrivals
    }

    // MARK: Where the newest is dropped

    /// The element that stands behind the newest that waits; nil if one tells of it already.
    mutating func droppedNewest(at now: Instant) -> Element? {
        guard !isTrailing else { return nil }
        isTrailing = true
        return makeElement(now)
    }

    mutating func appendedBehindGap() {
        isTrailing = false
    }
}
