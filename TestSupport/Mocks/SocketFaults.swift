import PusherChannels

/// The faults in a ``MockWebSocket``, and what they do to its present connection: a value without a socket.
struct SocketFaults: Sendable {
    private var everywhere: [Fault] = []
    private var byConnection: [Int: [Fault]] = [:]
    /// Those that came when their connection was over, or open where they are of opening it.
    private var late: [(fault: Fault, connection: Int)] = []
    private var connection = 0
    /// The number of frames that the client got on the present connection.
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

    /// The faults whose one connection never came, or had come.
    func findings(socket: String) -> [Finding] {
        late.map { Finding(.unplayedStep, "\($0.fault) came too late for connection \($0.connection) of \(socket)") }
            + byConnection.filter { $0.key < 1 || $0.key > connection }.sorted { $0.key < $1.key }.flatMap { number, faults in
                faults.map { Finding(.unplayedStep, "\($0) is for connection \(number) of \(socket), which had \(connection)") }
            }
    }

    private var active: [Fault] { everywhere + byConnection[connection, default: []] }

    /// Indicates whether nothing comes to the client any more.
    var isStalled: Bool {
        active.contains { if case .stall(let position) = $0 { isReached(position) } else { false } }
    }

    /// Indicates whether the upgrade is never answered.
    var isStalledFromStart: Bool { active.contains(.stall) }

    /// The delay of everything that comes; of several, the last counts.
    var latency: Duration {
        active.reduce(.zero) { if case .latency(let delay) = $1 { delay } else { $0 } }
    }

    /// Returns the time that so many bytes are on their way; of several bandwidths, the last counts.
    func time(for bytes: Int) -> Duration {
        let bandwidth = active.reduce(nil as Int?) { if case .bandwidth(let bytes) = $1 { bytes } else { $0 } }
        return bandwidth.map { Shaper.time(for: bytes, at: Shaper.possible($0)) } ?? .zero
    }

    /// Returns the failure of the connection before it is open.
    var failureToOpen: WebSocketFailure? {
        active.lazy.compactMap { fault in
            switch fault {
            case .refused: WebSocketFailure(.connectionRefused, "refused by the test")
            case .upgradeRefused(let status):
                WebSocketFailure(.upgradeRefused(status: status), "refused with \(status) by the test")
            case .wrongAcceptKey: WebSocketFailure(.protocolViolation, "the upgrade's answer has a wrong Sec-WebSocket-Accept")
            case .reset(.bytes(0)), .halfClose(.bytes(0)): WebSocketFailure(.connectionLost, "lost during the upgrade")
            default: nil
            }
        }.first
    }

    /// Returns the failure of the open connection.
    var failure: WebSocketFailure? {
        active.lazy.compactMap { fault in
            switch fault {
            case .reset(let position) where isReached(position): WebSocketFailure(.connectionLost, "reset by the test")
            case .halfClose(let position) where isReached(position): WebSocketFailure(.connectionLost, "ended by the test")
            case .malformedFrame where isGreeted, .badUTF8 where isGreeted:
                WebSocketFailure(.protocolViolation, "the server broke the protocol: \(fault)")
            default: nil
            }
        }.first
    }

    /// Bad frames come after the server's first word, as on a socket.
    private var isGreeted: Bool { frames > 0 }

    private func isReached(_ position: Fault.Position) -> Bool {
        switch position {
        case .frames(let count): frames >= count
        case .bytes(let count): count == 0
        }
    }
}

extension Fault {
    /// Indicates whether it is what becomes of the attempt to open a connection, and nothing once that is open.
    fileprivate var isOfOpening: Bool {
        switch self {
        case .refused, .upgradeRefused, .wrongAcceptKey: true
        default: false
        }
    }
}
