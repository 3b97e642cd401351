#if os(Linux)
import Testing
import Foundation
import Processes
@testable import PusherChannels

/// A way in which a connection fails to open or is lost, with the client's report: a row of "When connecting fails".
struct FailureScenario: Sendable, CustomStringConvertible {
    /// The problem, in the words of the page.
    let name: String
    /// Makes the problem happen, and returns the client's report.
    let run: @Sendable () async throws -> FailureReport

    init(_ name: String, run: @escaping @Sendable () async throws -> FailureReport) {
        self.name = name
        self.run = run
    }

    var description: String { name }

    static let all = connecting + tls + proxies + upgrades + frames
}

/// The error that a client reports, as the page prints it: without the numbers that differ each time.
struct FailureReport: Equatable, Sendable {
    let kind: String
    let message: String

    init(kind: String, message: String) {
        self.kind = kind
        self.message = message
    }

    init(_ failure: TransportError, ports: [Int: Int]) {
        let kind = "\(failure.kind)".replacingOccurrences(of: "PusherChannels.TLSError", with: "")
        let message = ports.reduce(failure.message) { text, port in
            text.replacingOccurrences(of: ":\(port.key)", with: ":\(port.value)")
        }
        self.init(kind: kind, message: message)
    }
}

/// Makes one attempt and returns its failure; `ports` maps real ports to those that the page shows in their place.
func failure(
    of request: WebSocketRequest, ports: [Int: Int] = [:], timeouts: NetworkTimeouts = .long,
    resolve: @escaping AddressResolver.Resolve = resolving(to: ["127.0.0.1"])
) async throws -> FailureReport {
    let loop = NetworkLoop(timeouts: timeouts)
    let rig = SocketRig(on: loop, resolve: resolve)
    rig.socket.open(request, attempt: first)
    let events = await rig.events.untilClosed()
    await loop.shutdown()
    guard let failure = events.last?.failure else { throw Unexpected("\(events)") }
    return FailureReport(failure, ports: ports)
}

/// Returns a resolver that has these addresses for every name.
func resolving(to addresses: [String]) -> AddressResolver.Resolve {
    { _, completion in
        completion(.success(addresses))
        return {}
    }
}

/// The time-outs for scenarios in which a response never comes.
let impatient = NetworkTimeouts(stage: .seconds(2), address: .seconds(2))

@Suite(.watchdog) struct FailureCatalogTests {
    /// The page's rows by the name of the problem, each with the failure's kind and message.
    private static let rows: [String: FailureReport] = {
        let path = "Sources/PusherChannels/PusherChannels.docc/WhenConnectingFails.md"
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
        let page = (try? String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)) ?? ""
        var rows: [String: FailureReport] = [:]
        for line in page.split(separator: "\n") where line.hasPrefix("| ") {
            let cells = line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
            guard cells.count == 3, cells[1].hasPrefix("`") else { continue }
            rows[cells[0]] = FailureReport(kind: String(cells[1].dropFirst().dropLast()), message: cells[2])
        }
        return rows
    }()

    @Test(arguments: FailureScenario.all)
    func `Each failure on the page 'When connecting fails' is reported as the page says`(scenario: FailureScenario) async throws {
        let report = try await scenario.run()
        #expect(report == Self.rows[scenario.name], "| \(scenario.name) | `\(report.kind)` | \(report.message) |")
    }

    @Test func `The page 'When connecting fails' has exactly the failures that are tested`() {
        #expect(Set(Self.rows.keys) == Set(FailureScenario.all.map { $0.name }))
        #expect(Set(FailureScenario.all.map { $0.name }).count == FailureScenario.all.count)
    }
}
#endif
