#if LocalServer
import FlyingFox
import Foundation

/// The faults that are injected into a ``LocalServer``.
struct LocalServerFaults {
    /// The status with which upgrades are refused, instead of 101.
    private(set) var upgradeStatus: Int?
    private(set) var spoilsAcceptKey = false
    /// The frames that are sent to every connection as soon as it is open, after the server's greeting.
    private(set) var frames: [WSFrame] = []

    mutating func add(_ fault: Fault) {
        switch fault {
        case .upgradeRefused(let status): upgradeStatus = status
        case .wrongAcceptKey: spoilsAcceptKey = true
        case .malformedFrame, .badUTF8: frames += Self.frames(of: fault)
        default: break
        }
    }

    /// Returns the response to an upgrade as it leaves the server.
    func spoil(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        if spoilsAcceptKey { response.headers[HTTPHeader("Sec-WebSocket-Accept")] = "bm90IHRoZSByaWdodCBrZXkhISE=" }
        return response
    }

    /// Returns the frames that a fault sends.
    static func frames(of fault: Fault) -> [WSFrame] {
        let text = Data(#"{"event":"test:malformed","data":{}}"#.utf8)
        func frame(_ opcode: WSFrame.Opcode, fin: Bool = true, rsv1: Bool = false, _ payload: Data) -> WSFrame {
            WSFrame(fin: fin, rsv1: rsv1, opcode: opcode, mask: nil, payload: payload)
        }
        switch fault {
        case .badUTF8: return [frame(.text, Data([0x22, 0xC3, 0x28, 0x22]))]
        case .malformedFrame(.unknownOpcode): return [frame(WSFrame.Opcode(0x3), text)]
        case .malformedFrame(.reservedBit): return [frame(.text, rsv1: true, text)]
        case .malformedFrame(.masked):
            let mask = WSFrame.Mask(m1: 1, m2: 2, m3: 3, m4: 4)
            return [WSFrame(fin: true, opcode: .text, mask: mask, payload: text)]
        case .malformedFrame(.fragmentedControl): return [frame(.ping, fin: false, Data("x".utf8))]
        case .malformedFrame(.oversizedControl): return [frame(.ping, Data(repeating: 0x78, count: 126))]
        case .malformedFrame(.orphanContinuation): return [frame(.continuation, text)]
        default: return []
        }
    }
}
#endif
