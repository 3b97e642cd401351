#if os(Linux)
import Foundation
import FoundationNetworking
import Processes
import PusherChannels
import Testing
import TestSupport

/// A fault has the same outcome on real sockets as in a test double in memory.
@Suite(.watchdog) struct FaultTableTests {
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
        #expect(await FaultTable.outcome(of: socket, port: 1, expecting: expected) == expected, "\(fault)")
    }

    @Test(arguments: FaultTable.rows.indices)
    func `A fault on a real socket has the outcome of the fault table`(row: Int) async throws {
        let (fault, expected) = FaultTable.rows[row]
        let (connected, continuation) = AsyncStream<Void>.makeStream()
        let server = try await LocalServer.start(
            settings: .init(onEvent: { if case .notice(.connected) = $0 { continuation.yield() } }))
        let proxy = try NetworkFaultProxy.start(to: server.host, port: server.port)
        if fault.seams.contains(.localServer) { try server.inject(fault) } else { try proxy.inject(fault) }
        let outcome = await FaultTable.outcome(of: NetworkWebSocket(loop: .patient), port: proxy.port, expecting: expected) {
            // By now the server has sent the reply that never arrives.
            for await _ in connected { break }
        }
        #expect(outcome == expected, "\(fault)")
        proxy.stop()
        await server.stop()
    }
}

/// A fault has the same outcome in a mock session as on a socket, both in `URLSession` and in the SDK's own session.
@Suite struct HTTPFaultTableTests {
    static let rows: [(fault: Fault, outcome: String)] = [
        (.refused, "\(URLError.Code.cannotConnectToHost)"), (.reset, "\(URLError.Code.networkConnectionLost)"),
        (.stall, "\(URLError.Code.timedOut)"), (.latency(.milliseconds(5)), "200"),
        (.bandwidth(bytesPerSecond: 20_000), "200"),
    ]

    /// Returns the error or the status with which a request ends.
    private func outcome(
        _ session: some HTTPSession, _ url: URL, of fault: Fault, afterwards: () -> Void = {}
    ) async -> String {
        var request = URLRequest(url: url)
        // On a socket, the stall lasts until this time-out.
        request.timeoutInterval = fault == .stall ? 1 : 60
        return await withCheckedContinuation { continuation in
            session.dataTask(with: request) { _, response, error in
                let status = (response as? HTTPURLResponse).map { "\($0.statusCode)" }
                continuation.resume(returning: (error as? URLError).map { "\($0.code)" } ?? status ?? "nothing")
            }.resume()
            afterwards()
        }
    }

    @Test func `The table of HTTP faults has every fault that exists both in memory and on a socket`() {
        let atBoth = Fault.samples.filter { $0.seams.isSuperset(of: [.mockSession, .networkFaultProxy]) }
        #expect(Set(atBoth.map(\.kind)) == Set(Self.rows.map(\.fault.kind)))
    }

    @Test(arguments: rows.indices)
    func `A fault of a mock session has the outcome of the table of HTTP faults`(row: Int) async throws {
        let (fault, expected) = Self.rows[row]
        let time = TestScheduler()
        let session = MockSession(delivery: .immediate, scheduler: time)
        var response = StubResponse.ok
        response.fault = fault
        session.stub(.any, response)
        let url = try #require(URL(string: "http://127.0.0.1/"))
        #expect(await outcome(session, url, of: fault) { time.advance(by: .seconds(1)) } == expected)
    }

    @Test(arguments: rows.indices, [URLSession(configuration: .ephemeral), DefaultTransport.httpSession] as [any HTTPSession])
    func `A fault on a real socket has the outcome of the table of HTTP faults`(row: Int, session: any HTTPSession) async throws {
        let (fault, expected) = Self.rows[row]
        let server = try await LocalServer.start()
        server.stub("/", .ok).optional()
        let proxy = try NetworkFaultProxy.start(to: server.host, port: server.port)
        try proxy.inject(fault)
        #expect(await outcome(session, proxy.url, of: fault) == expected)
        proxy.stop()
        await server.stop()
    }
}
#endif
