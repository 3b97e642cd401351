import Foundation
import TestSupport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Fault {
    /// One fault of each kind, and the positions that decide where a fault exists; the switch in ``kind`` is a reminder to add
    /// new ones.
    static let samples: [Fault] =
        [
            .refused, .upgradeRefused(status: 503), .wrongAcceptKey, .reset, .reset(after: .bytes(7)), .reset(after: .frames(1)),
            .halfClose, .halfClose(after: .bytes(7)), .halfClose(after: .frames(1)), .stall, .stall(after: .bytes(7)),
            .stall(after: .frames(1)), .truncate(after: .bytes(7)), .badUTF8, .latency(.seconds(1)),
            .bandwidth(bytesPerSecond: 1), .dribble(bytes: 1, every: .seconds(1)), .error(.timedOut),
        ] + MalformedFrame.allCases.map(Fault.malformedFrame)

    /// The kind of the fault, regardless of its numbers.
    var kind: String {
        switch self {
        case .refused: "refused"
        case .upgradeRefused: "upgradeRefused"
        case .wrongAcceptKey: "wrongAcceptKey"
        case .reset(let position): "reset \(place(position))"
        case .halfClose(let position): "halfClose \(place(position))"
        case .stall(let position): "stall \(place(position))"
        case .truncate(let position): "truncate \(place(position))"
        case .malformedFrame(let frame): "malformedFrame \(frame)"
        case .badUTF8: "badUTF8"
        case .latency: "latency"
        case .bandwidth: "bandwidth"
        case .dribble: "dribble"
        case .error: "error"
        }
    }

    private func place(_ position: Position) -> String {
        switch position {
        case .bytes(0): "at the start"
        case .bytes: "after bytes"
        case .frames: "after frames"
        }
    }
}
