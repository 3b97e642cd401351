#if os(Linux)
import Dispatch
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// Messages that take long to read are read on another thread, and all events of their connection stay in order.
@Suite(.watchdog) struct LargeMessageTests {
    private static let large = String(repeating: "0123456789abcdef", count: 1 << 17)

    /// Returns a connection whose delegate blocks on a large message until the gate opens.
    private func holding(_ gate: DispatchSemaphore, on loop: NetworkLoop) -> SocketRig {
        SocketRig(socket: NetworkWebSocket(loop: loop)) { event in
            if event == .text(Self.large) { gate.wait() }
        }
    }

    @Test(arguments: [false, true])
    func `A delegate that is slow with a large message doesn't hold up the loop's other connections`(secure: Bool) async throws {
        let server = try RawServer(tls: secure ? .throwaway : nil) { connection in
            try connection.upgrade()
            while true {
                let text = try connection.readFrame().text
                try connection.send(.text(text == "large" ? Self.large : text))
            }
        }
        let loop = NetworkLoop(timeouts: .long)
        let gate = DispatchSemaphore(value: 0)
        let (busy, other) = (holding(gate, on: loop), SocketRig(socket: NetworkWebSocket(loop: loop)))
        for rig in [busy, other] {
            rig.socket.open(.toLoopback(port: server.port, secure: secure), attempt: first)
            #expect(await rig.events.next() == .opened(first))
        }
        busy.socket.send("large")
        busy.socket.send("after")
        for number in 0..<100 {
            other.socket.send("\(number)")
            #expect(await other.events.next() == .text("\(number)"))
        }
        gate.signal()
        #expect(await busy.events.next() == .text(Self.large))
        #expect(await busy.events.next() == .text("after"))
    }
}
#endif
