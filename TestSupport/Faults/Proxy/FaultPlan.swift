/// The faults of one connection, in the form in which they are applied.
struct FaultPlan {
    /// A fault that stops the flow of bytes to the client. The cases are in ascending order of severity; if several are due, the
    /// most severe wins.
    enum Stop: Int, Comparable {
        case stall, halfClose, truncate, reset

        static func < (left: Stop, right: Stop) -> Bool { left.rawValue < right.rawValue }
    }

    private(set) var stops: [(stop: Stop, position: Fault.Position)] = []
    private(set) var latency = Duration.zero
    private(set) var bandwidth: Int?
    private(set) var dribble: Shaper.Dribble?

    init(_ faults: [Fault] = []) {
        for fault in faults { add(fault) }
    }

    mutating func add(_ fault: Fault) {
        switch fault {
        case .reset(let position): stops.append((.reset, position))
        case .halfClose(let position): stops.append((.halfClose, position))
        case .stall(let position): stops.append((.stall, position))
        case .truncate(let position): stops.append((.truncate, position))
        case .latency(let duration): latency = max(.zero, duration)
        case .bandwidth(let bytesPerSecond): bandwidth = bytesPerSecond
        case .dribble(let bytes, let pause): dribble = Shaper.Dribble(bytes: bytes, pause: pause)
        // Handled by the listener, or not supported by proxies.
        case .refused, .upgradeRefused, .wrongAcceptKey, .malformedFrame, .badUTF8, .error: break
        }
    }
}
