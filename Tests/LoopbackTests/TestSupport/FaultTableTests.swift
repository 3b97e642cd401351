#if os(Linux)
import Processes
import PusherChannels
import Testing
import TestSupport

/// A fault has the same outcome on real sockets as in a test double in memory.
@Suite struct FaultTableTests {
    @Test func `The fault table has every fault that exists both in memory and on a socket`() {
        let atBoth = Fault.samples.filter {
            $0.seams.contains(.mockWebSocket) && !$0.seams.isDisjoint(with: [.localServer, .networkFaultProxy])
        }
        let kinds = Set(FaultTable.rows.map(\.fault.kind))
        #expect(Set(atBoth.map(\.kind)) == kinds)
        #expect(FaultTable.rows.allSatisfy { $0.fault.seams.contains(.mockWebSocket) })
        #expect(
            Fault.MalformedFrame.allCases.allSatisfy { frame in FaultTable.rows.contains { $0.fault == .malformedFrame(frame) } })
    }

    @Test(arguments: FaultTable.rows.indices)
    func `A fault of a mock socket has the outcome of the fault table`(row: Int) async throws {
        let (fault, expected) = FaultTable.rows[row]
        let socket = MockWebSocket(server: .machine(ServerMachine()))
        try socket.inject(fault)
        try await withWatchdog {
            #expect(await FaultTable.outcome(of: socket, port: 1, expecting: expected) == expected, "\(fault)")
        }
    }

    @Test(arguments: FaultTable.rows.indices)
    func `A fault on a real socket has the outcome of the fault table`(row: Int) async throws {
        let (fault, expected) = FaultTable.rows[row]
        let (connected, continuation) = AsyncStream<Void>.makeStream()
        let server = try await LocalServer.start(
            settings: .init(onEvent: { if case .notice(.connected) = $0 { continuation.yield() } }))
        let proxy = try NetworkFaultProxy.start(to: server.host, port: server.port)
        if fault.seams.contains(.localServer) { try server.inject(fault) } else { try proxy.inject(fault) }
        try await withWatchdog {
            let outcome = await FaultTable.outcome(of: NetworkWebSocket(loop: .patient), port: proxy.port, expecting: expected) {
                // By now the server has sent the reply that never arrives.
                for await _ in connected { break }
            }
            #expect(outcome == expected, "\(fault)")
        }
        proxy.stop()
        await server.stop()
    }
}
#endif
