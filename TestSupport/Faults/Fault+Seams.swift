import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Fault {
    /// A test double that faults can be injected into.
    public enum Seam: String, Hashable, Sendable, CaseIterable {
        /// ``MockWebSocket``: a socket in memory.
        case mockWebSocket
        /// ``MockSession``: HTTP in memory.
        case mockSession
        /// ``LocalServer``: a real server's responses and frames.
        case localServer
        /// ``NetworkFaultProxy``: the bytes between a client and any server.
        case networkFaultProxy
    }

    /// The test doubles that support this fault.
    public var seams: Set<Seam> {
        switch self {
        case .refused: [.mockWebSocket, .mockSession, .networkFaultProxy]
        case .upgradeRefused, .wrongAcceptKey, .malformedFrame, .badUTF8: [.mockWebSocket, .localServer]
        case .reset(.bytes(0)), .stall(.bytes(0)): [.mockWebSocket, .mockSession, .networkFaultProxy]
        case .halfClose(.bytes(0)): [.mockWebSocket, .networkFaultProxy]
        case .reset(.frames), .halfClose(.frames), .stall(.frames): [.mockWebSocket, .networkFaultProxy]
        case .reset(.bytes), .halfClose(.bytes), .stall(.bytes), .truncate, .dribble: [.networkFaultProxy]
        case .latency, .bandwidth: [.mockWebSocket, .mockSession, .networkFaultProxy]
        case .error: [.mockSession]
        }
    }

    func check(at seam: Seam) throws(UnsupportedFault) {
        guard seams.contains(seam) else { throw UnsupportedFault(fault: self, seam: seam) }
    }
}

extension Fault: CustomStringConvertible {
    /// The fault as text, such as `reset(after: frames(3))`.
    public var description: String {
        switch self {
        case .refused: "refused"
        case .upgradeRefused(let status): "upgradeRefused(status: \(status))"
        case .wrongAcceptKey: "wrongAcceptKey"
        case .reset(let position): "reset(after: \(position))"
        case .halfClose(let position): "halfClose(after: \(position))"
        case .stall(let position): "stall(after: \(position))"
        case .truncate(let position): "truncate(after: \(position))"
        case .malformedFrame(let frame): "malformedFrame(\(frame))"
        case .badUTF8: "badUTF8"
        case .latency(let delay): "latency(\(delay))"
        case .bandwidth(let bytes): "bandwidth(bytesPerSecond: \(bytes))"
        case .dribble(let bytes, let pause): "dribble(bytes: \(bytes), every: \(pause))"
        case .error(let code): "error(\(code.rawValue))"
        }
    }
}

/// An error that is thrown when a test double doesn't support a fault.
public struct UnsupportedFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// The fault.
    public let fault: Fault
    /// The test double that was asked for the fault.
    public let seam: Fault.Seam

    /// A description that names the fault, the test double, and those that support the fault.
    public var description: String {
        let able = fault.seams.map(\.rawValue).sorted().joined(separator: ", ")
        return "\(seam.rawValue) can't do \(fault); it exists at: \(able)"
    }
}
