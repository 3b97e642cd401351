#if os(Linux)
import ArgumentParser
import Foundation
import PusherChannels
import Testing

@testable import pusher_channels

/// The failed step is derived from an error: from its kind or, if that is ambiguous, from its message as listed on the page "When
/// connecting fails".
@Suite struct DoctorStepTests {
    /// A row of the page with a kind of failure that several steps share.
    struct Row: CustomTestStringConvertible {
        let section: String
        let kind: TransportError.Kind
        let message: String

        var testDescription: String { message }
    }

    private static let kinds: [String: TransportError.Kind] = [
        "`noAnswer`": .noAnswer, "`protocolViolation`": .protocolViolation, "`connectionLost`": .connectionLost,
    ]

    private static let rows: [Row] = {
        let path = "Sources/PusherChannels/PusherChannels.docc/WhenConnectingFails.md"
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
        let page = (try? String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)) ?? ""
        var section = ""
        return page.split(separator: "\n").compactMap { line in
            if line.hasPrefix("## ") { section = String(line.dropFirst(3)) }
            let cells = line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
            guard cells.count == 3, let kind = kinds[cells[1]] else { return nil }
            return Row(section: section, kind: kind, message: cells[2])
        }
    }()

    @Test(arguments: rows)
    func `A connection failure's step is that of its section on the page WhenConnectingFails`(row: Row) {
        let step = DoctorStep(failedWith: PusherError(.transport(row.kind), message: row.message))
        let expected: DoctorStep? =
            switch row.section {
            case "Reaching the server": row.message.hasPrefix("No address") ? .name : .tcp
            case "Proxies": .proxy
            case "TLS": .tls
            case "The upgrade": .upgrade
            case "Frames": .protocol
            default: nil
            }
        #expect(step == expected, "\(row.section): \(row.message)")
    }

    @Test func `The page WhenConnectingFails has failures of an ambiguous kind in all five sections`() {
        #expect(Set(Self.rows.map(\.section)) == ["Reaching the server", "Proxies", "TLS", "The upgrade", "Frames"])
    }

    /// A step, and words of its advice, for a direct connection to the port 443 with TLS.
    @Test(
        arguments: [
            (PusherError(.transport(.tlsFailed(.invalidConfiguration)), message: ""), .options, "what the message names", 64),
            (PusherError(.transport(.unsupported), message: ""), .options, "what the message names", 64),
            (PusherError(.invalidRequest, message: ""), .options, "what the message names", 64),
            (PusherError(.transport(.hostNotFound), message: ""), .name, "the spelling of the server's name", 75),
            (PusherError(.transport(.unreachable), message: ""), .address, "its routes", 75),
            (PusherError(.transport(.connectionRefused), message: "refused"), .tcp, "that the server is running", 75),
            (PusherError(.transport(.connectionRefused), message: "Proxy 127.0.0.1:3128 can't be reached"), .tcp, "Check", 75),
            (PusherError(.transport(.tlsFailed(.untrustedAuthority)), message: ""), .tls, "--ca-file", 1),
            (PusherError(.transport(.tlsFailed(.wrongHost)), message: ""), .tls, "issued for ws.example", 1),
            (PusherError(.transport(.tlsFailed(.notTLS)), message: ""), .tls, "--no-tls", 1),
            (PusherError(.transport(.proxyRefused(status: 502)), message: ""), .proxy, "the proxy can't reach it", 75),
            (PusherError(.transport(.upgradeRefused(status: 200)), message: ""), .upgrade, "must forward upgrades", 1),
            (PusherError(.transport(.upgradeRefused(status: 403)), message: ""), .upgrade, "--allow-host ws.example", 1),
            (notWebSocket, .upgrade, "must forward upgrades", 75),
            (PusherError(.server, code: 4001, message: "no such app"), .protocol, "Check --key", 1),
            (
                PusherError(.timedOut, message: "the server did not establish the connection within 15.0 seconds"), .protocol,
                "it speaks WebSocket, but sends nothing", 75
            ),
            (
                PusherError(.timedOut, message: "no authorization for private-orders within 15.0 seconds"), .authorization,
                "Check --auth-endpoint", 75
            ),
            (
                PusherError(.timedOut, message: "the server did not answer the subscription to news within 30.0 seconds"),
                .subscription, "the app with this key", 75
            ),
        ] as [(PusherError, DoctorStep, String, Int32)])
    func `Each kind of error tells which of the doctor's steps failed, what to do, and whether to try again`(
        error: PusherError, step: DoctorStep, advice: String, status: Int32
    ) {
        #expect(DoctorStep(failedWith: error) == step)
        let route = DoctorRoute(host: "ws.example", port: 443, usesTLS: true, proxy: nil, channel: "private-a")
        let lines = DoctorReport(route, error).lines
        let failed = lines.filter { $0.result == .failed }
        #expect(failed.map(\.step) == [step.rawValue] && failed[0].advice?.contains(advice) == true, "\(failed)")
        // Those before it went well, or don't apply.
        #expect(lines.prefix { $0.result != .failed }.allSatisfy { $0.result == ($0.step == "proxy" ? .skipped : .ok) })
        #expect(Status.of(error).rawValue == status)
    }

    private static let notWebSocket = PusherError(
        .transport(.protocolViolation), message: "ws.example:443 doesn't answer like a WebSocket server")

    @Test func `The doctor prints an IPv6 address in brackets before its port`() {
        let route = DoctorRoute(
            host: "2001:db8::1", port: 6001, usesTLS: false, proxy: HTTPProxy(host: "::1", port: 3128), channel: nil)
        #expect(route.success(of: .tcp) == "[::1]:3128 accepts connections")
        #expect(route.success(of: .proxy) == "[::1]:3128 opens a tunnel to [2001:db8::1]:6001")
    }

    @Test(arguments: [(false, false), (true, true)])
    func `The doctor reports the steps after the failed one as untested`(usesTLS: Bool, hasProxy: Bool) {
        let proxy = hasProxy ? HTTPProxy(url: "http://a:s3cret@p.example:3128") : nil
        let route = DoctorRoute(host: "ws.example", port: 443, usesTLS: usesTLS, proxy: proxy, channel: "private-a")
        let report = DoctorReport(route, PusherError(.transport(.upgradeRefused(status: 401)), message: "refused"))
        let results = report.lines.map(\.result)
        let between: DoctorReport.Line.Result = hasProxy ? .ok : .skipped
        #expect(results == [.ok, .ok, .ok, .ok, between, between, .failed, .untested, .untested, .untested])
        #expect(report.lines.filter { $0.advice != nil }.map(\.step) == ["upgrade"])
        let plain = TerminalTraits(isTerminal: false, variables: [:])
        #expect(!report.lines.contains { $0.text(on: plain).contains("s3cret") || $0.jsonLine.contains("s3cret") })
    }
}
#endif
