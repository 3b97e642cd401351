import PusherChannels

/// The faults of a ``MockWebSocket`` and their effect on its current connection: a value without a socket.
struct SocketFaults: Sendable {
    private var everywhere: [Fault] = []
    private var byConnection: [Int: [Fault]] = [:]
    /// The faults that came when their connection was over, or already open if they affect its opening.
    private var late: [(fault: Fault, connection: Int)] = []
    private var connection = 0
    /// The number of frames that the client received on the current connection.
    private var frames = 0

    mutating func add(_ fault: Fault, onConnection number: Int?, whenItIs phase: MockSocketState.Phase) {
        guard let number else { return everywhere.append(fault) }
        byConnection[number, default: []].append(fault)
        let isOver = number < connection || number == connection && phase == .idle
        let isOpened = number == connection && phase == .open && fault.isOfOpening
        if number > 0, isOver || isOpened { late.append((fault, number)) }
    }

    mutating func addToPresent(_ fault: Fault, whenItIs phase: MockSocketState.Phase) {
        add(fault, onConnection: connection, whenItIs: phase)
    }

    mutating func removeAll() {
        everywhere = []
        byConnection = [:]
    }

    mutating func connectionBegins() {
        connection += 1
        frames = 0
    }

    mutating func frameComes() {
        frames += 1
    }

    /// Returns the findings for faults whose only connection never came, or came before the fault.
    func findings(socket: String) -> [Finding] {
        Self.findings(late: late, byConnection, connections: connection, of: socket)
    }

    /// Returns the findings for the faults of single connections of anything that has had a number of them.
    static func findings(
        late: [(fault: Fault, connection: Int)], _ byConnection: [Int: [Fault]], connections: Int, of name: String
    ) -> [Finding] {
        late.map { Finding(.unplayedStep, "\($0.fault) came too late for connection \($0.connection) of \(name)") }
            + byConnection.filter { $0.key < 1 || $0.key > connections }.sorted { $0.key < $1.key }.flatMap { number, faults in
                faults.map { Finding(.unplayedStep, "\($0) is for connection \(number) of \(name), which had \(connections)") }
            }
    }

    private var active: [Fault] { everywhere + byConnection[connection, default: []] }

    /// Indicates whether the client no longer receives anything.
    var isStalled: Bool {
        active.contains { if case .stall(let position) = $0 { isReached(position) } else { false } }
    }

    /// Indicates whether the upgrade is never answered.
    var isStalledFromStart: Bool { active.contains(.stall) }

    /// The delay of everything that the client receives; of several, the last counts.
    var latency: Duration {
        active.reduce(.zero) { if case .latency(let delay) = $1 { delay } else { $0 } }
    }

    /// Returns the time that a number of bytes takes to arrive; of several bandwidths, the last counts.
    func time(for bytes: Int) -> Duration {
        let bandwidth = active.reduce(nil as Int?) { if case .bandwidth(let bytes) = $1 { bytes } else { $0 } }
        return bandwidth.map { Shaper.time(for: bytes, at: Shaper.possible($0)) } ?? .zero
    }

    /// The failure of the connection before it is open.
    var failureToOpen: TransportError? {
        active.lazy.compactMap { fault in
            switch fault {
            case .refused: TransportError(.connectionRefused, "refused by the test")
            case .upgradeRefused(let status):
                TransportError(.upgradeRefused(status: status), "refused with \(status) by the test")
            case .wrongAcceptKey: TransportError(.protocolViolation, "the upgrade's answer has a wrong Sec-WebSocket-Accept")
            case .reset(.bytes(0)), .halfClose(.bytes(0)): TransportError(.connectionLost, "lost during the upgrade")
            default: nil
            }
        }.first
    }

    /// The failure of the open connection.
    var failure: TransportError? {
        active.lazy.compactMap { fault in
            switch fault {
            case .reset(let position) where isReached(position): TransportError(.connectionLost, "reset by the test")
            case .halfClose(let position) where isReached(position): TransportError(.connectionLost, "ended by the test")
            case .malformedFrame where isGreeted, .badUTF8 where isGreeted:
                TransportError(.protocolViolation, "the server broke the protocol: \(fault)")
            default: nil
            }
        }.first
    }

    /// Indicates whether the server has sent its first frame: bad frames only come after it, as on a socket.
    private var isGreeted: Bool { frames > 0 }

    private func isReached(_ position: Fault.Position) -> Bool {
        switch position {
        case .frames(let count): frames >= count
        case .bytes(let count): count == 0
        }
    }
}

extension Fault {
    /// Indicates whether the fault affects only the attempt to open a connection.
    fileprivate var isOfOpening: Bool {
        switch self {
        case .refused, .upgradeRefused, .wrongAcceptKey: true
        default: false
        }
    }
}
