#if LocalServer
/// The faults that are injected into a ``LocalServer``.
struct LocalServerFaults {
    /// The status with which upgrades are refused, instead of 101.
    private(set) var upgradeStatus: Int?
    private(set) var spoilsAcceptKey = false
    /// The frames that are sent to every connection as soon as it is open, after the server's greeting.
    private(set) var frames: [OutgoingFrame] = []

    mutating func add(_ fault: Fault) {
        switch fault {
        case .upgradeRefused(let status): upgradeStatus = status
        case .wrongAcceptKey: spoilsAcceptKey = true
        case .malformedFrame, .badUTF8: frames += Self.frames(of: fault)
        default: break
        }
    }

    /// Returns the frames that a fault sends.
    static func frames(of fault: Fault) -> [OutgoingFrame] {
        let text = Array(#"{"event":"test:malformed","data":{}}"#.utf8)
        return switch fault {
        case .badUTF8: [OutgoingFrame(first: 0x81, [0x22, 0xC3, 0x28, 0x22])]
        case .malformedFrame(.unknownOpcode): [OutgoingFrame(first: 0x83, text)]
        case .malformedFrame(.reservedBit): [OutgoingFrame(first: 0xC1, text)]
        case .malformedFrame(.masked): [OutgoingFrame(first: 0x81, text, mask: [1, 2, 3, 4])]
        case .malformedFrame(.fragmentedControl): [OutgoingFrame(first: 0x09, [0x78])]
        case .malformedFrame(.oversizedControl): [OutgoingFrame(first: 0x89, [UInt8](repeating: 0x78, count: 126))]
        case .malformedFrame(.orphanContinuation): [OutgoingFrame(first: 0x80, text)]
        default: []
        }
    }
}
#endif
