/// The number of elements and bytes that wait for a reader, and whether more may come.
struct Watermark: Sendable {
    enum State: Equatable {
        /// There is room.
        case under
        /// There is no room for more, so the server has to wait.
        case over
        /// The server can't be made to wait any longer: elements that find no room are dropped.
        case dropping
        /// Elements that aren't dropped at first have filled as much room again, and the server can't be made to wait any longer.
        case overflowing
    }

    private let limit: Int
    private let byteLimit: Int
    private(set) var count = 0
    private(set) var bytes = 0
    private(set) var state = State.under
    /// The limits while elements are dropped; nil while there is room. Not everything is dropped at first, so beyond them the
    /// server has to wait once more.
    private var raised: (count: Int, bytes: Int)?

    init(limit: Int, byteLimit: Int) {
        self.limit = Self.sensible(limit)
        self.byteLimit = Self.sensible(byteLimit)
    }

    /// Returns a limit that is at least one, and small enough that twice its value doesn't overflow.
    private static func sensible(_ limit: Int) -> Int { min(max(limit, 1), .max / 4) }

    /// Indicates whether there is no room for the next element.
    var isFull: Bool { count >= limit || bytes >= byteLimit }

    /// Indicates whether elements that find no room are dropped.
    var drops: Bool { state == .dropping || state == .overflowing }

    /// Adds elements that wait.
    mutating func add(count: Int = 1, bytes: Int) {
        self.count += count
        self.bytes += bytes
        switch state {
        case .under: if isFull { state = .over }
        case .over, .overflowing: break
        case .dropping: if let raised, self.count >= raised.count || self.bytes >= raised.bytes { state = .over }
        }
    }

    /// Removes elements that were read. There is room again when half of both limits is free.
    mutating func remove(count: Int = 1, bytes: Int) {
        self.count -= count
        self.bytes -= bytes
        if state != .under, self.count <= limit / 2, self.bytes <= byteLimit / 2 { (state, raised) = (.under, nil) }
    }

    /// Notes that more comes although there is no room.
    mutating func pauseLimitReached() {
        guard state == .over else { return }
        state = raised == nil ? .dropping : .overflowing
        raised = raised ?? (count + limit, bytes + byteLimit)
    }

    /// Stops making the server wait.
    mutating func stopMakingWait() {
        (state, raised) = (.under, nil)
    }
}
