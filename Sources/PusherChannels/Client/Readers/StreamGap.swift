/// The record of the elements that a stream dropped. It makes an element that reports them to the reader in their place.
struct StreamGap<Element: Sendable>: Sendable {
    /// Makes the element that reports elements dropped since a time.
    let makeElement: @Sendable (Instant) -> Element

    /// The arrival time of each waiting element, if the oldest is dropped. For an element that reports a gap, this is the start
    /// of the gap: the reported time must not be later than the first missing event.
    private var arrivals: ArraySlice<Instant> = []
    /// The arrival time of the element that was taken last.
    private var latestTaken: Instant?
    /// The time since which elements are missing that were older than all waiting ones; nil if none are missing.
    private var leadingSince: Instant?
    /// The start of the gap that the newest waiting element reports; nil if it reports none.
    private var trailingSince: Instant?

    init(makeElement: @escaping @Sendable (Instant) -> Element) {
        self.makeElement = makeElement
    }

    // MARK: Dropping the oldest

    mutating func appended(at now: Instant) {
        arrivals.append(now)
    }

    mutating func droppedOldest() {
        guard let arrival = arrivals.popFirst() else { return }
        leadingSince = min(leadingSince ?? arrival, arrival)
    }

    /// Indicates whether elements are missing that were older than all waiting ones.
    var isLeading: Bool { leadingSince != nil }

    /// Takes the element that belongs before the oldest waiting one; returns nil if nothing is missing there.
    mutating func takeLeading() -> Element? {
        guard let since = leadingSince.take() else { return nil }
        // As old as the elements it reports, in case it is put back and dropped.
        latestTaken = since
        return makeElement(since)
    }

    mutating func tookOldest() {
        latestTaken = arrivals.popFirst()
    }

    /// Notes that elements that were taken wait again.
    mutating func putBack(_ count: Int) {
        guard let latestTaken else { return }
        arrivals = ArraySlice(repeatElement(latestTaken, count: count)) + arrivals
    }

    // MARK: Dropping the newest

    /// Returns the element that belongs after the newest waiting one; nil if that one already reports the gap. An event that
    /// waited for its key may be older than the gap that is reported.
    mutating func droppedNewest(at arrival: Instant) -> Element? {
        if let trailingSince, trailingSince <= arrival { return nil }
        trailingSince = arrival
        return makeElement(arrival)
    }

    mutating func appendedBehindGap() {
        trailingSince = nil
    }

    /// Notes that one of several readers took the newest element. It may have reported the gap before the others have made room.
    mutating func tookNewest() {
        trailingSince = nil
    }
}
