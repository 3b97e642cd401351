/// A count of what waits for a reader, in elements and in bytes, and whether more may come.
struct Watermark: Sendable {
    enum State: Equatable {
        /// There is room.
        case under
        /// There is no room for more: the server has to wait.
        case over
        /// The server could not be made to wait longer: what finds no room is dropped.
        case dropping
    }

    private let limit: Int
    private let byteLimit: Int
    private(set) var count = 0
    private(set) var bytes = 0
    private(set) var state = State.under
    /// The limits while more is dropped before the server has to wait again: not everything can be dropped.
    private var raised: (count: Int, bytes: Int)?

    init(limit: Int, byteLimit: Int) {
        self.limit = Self.sensible(limit)
        self.byteLimit = Self.sensible(byteLimit)
    }

    /// One at least, and not so much that twice of it can't be counted.
    private static func sensible(_ limit: Int) -> Int { min(max(limit, 1), .max / 4) }

    /// Indicates whether what comes next finds no room.
    var isFull: Bool { count >= limit || bytes >= byteLimit }

    /// So much more waits.
    mutating func add(count: Int = 1, bytes: Int) {
        self.count += count
        self.bytes += bytes
        switch state {
        case .under: if isFull { state = .over }
        case .over: break
        case .dropping: if let raised, self.count >= raised.count || self.bytes >= raised.bytes { state = .over }
        }
    }

    /// So much was read. There is room again when half of both limits is free.
    mutating func remove(count: Int = 1, bytes: Int) {
        self.count -= count
        self.bytes -= bytes
        if state != .under, self.count <= limit / 2, self.bytes <= byteLimit / 2 { state = .under }
    }

    /// More comes although there is no room.
    mutating func pauseLimitReached() {
        guard state == .over else { return }
        state = .dropping
        raised = (count + limit, bytes + byteLimit)
    }

    /// Nobody is waited for any more.
    mutating func giveUp() {
        state = .under
    }
}
