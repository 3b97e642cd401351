#if os(Linux)
import Foundation
import Processes
import PusherChannels
import Testing
import TestSupport

/// The tests' CONNECT proxy, as curl sees it.
@Suite struct ConnectProxyTests {
    /// Requests `/hello` at an address through a proxy.
    private func curl(_ url: String, through proxy: ConnectProxy, _ options: String...) async throws -> (
        output: [String], errors: [String], end: Command.End?
    ) {
        let command = try Command(
            program: "/usr/bin/curl", ["-sS", "--proxytunnel", "-x", proxy.url] + options + ["\(url)/hello"])
        async let errors = command.errors.toEnd()
        return (await command.output.toEnd(), await errors, await command.end())
    }

    private func server(tls: ServerTLS? = nil) async throws -> LocalServer {
        let server = try await LocalServer.start(tls: tls)
        server.router["/hello"] = JSONResponse { _ in "World" }
        return server
    }

    @Test(arguments: Loopback.allCases) func aTunnelLeadsToWhereItIsAskedTo(address: Loopback) async throws {
        let server = try await server()
        try await withWatchdog {
            let proxy = try ConnectProxy(on: address)
            #expect(try await curl("\(server.url)", through: proxy).output == [#""World""#])
            let request = try #require(await proxy.requests.next())
            #expect(request.line == "CONNECT 127.0.0.1:\(server.port) HTTP/1.1")
            #expect(request.values("host") == ["127.0.0.1:\(server.port)"])
            #expect(request.target == "127.0.0.1:\(server.port)")
            #expect(proxy.requests.all.count == 1)
            proxy.stop()
            #expect(proxy.openTunnelCount == 0)
        }
        await server.stop()
    }

    @Test func namesThatNobodyKnowsLeadToAFixedTarget() async throws {
        let authority = try CertificateAuthority()
        let server = try await server(tls: .certificate(authority.issue(names: ["nowhere.invalid"], addresses: [])))
        try await withWatchdog {
            let proxy = try ConnectProxy(to: server.port)
            let result = try await curl(
                "https://nowhere.invalid:4711", through: proxy, "--cacert", try authority.file().path)
            #expect(result.output == [#""World""#])
            #expect(proxy.requests.all.map(\.target) == ["nowhere.invalid:4711"])
        }
        await server.stop()
    }

    @Test func nobodyGetsToAnotherMachine() async throws {
        try await withWatchdog {
            let proxy = try ConnectProxy()
            for target in ["http://nowhere.invalid", "http://192.0.2.1:80"] {
                let result = try await curl(target, through: proxy)
                #expect(result.errors.contains { $0.contains("502") })
                #expect(result.end == .exit(56))
            }
        }
    }

    @Test func whoShowsNoCredentialsIsRefused() async throws {
        let server = try await server()
        try await withWatchdog {
            let proxy = try ConnectProxy(credentials: .init(user: "ann", password: "se:cret"))
            for shown in ["bob:se:cret", "ann:", "ann:secret"] {
                #expect(try await curl("\(server.url)", through: proxy, "--proxy-user", shown).end == .exit(56))
            }
            let stranger = try await curl("\(server.url)", through: proxy)
            #expect(stranger.errors.contains { $0.contains("407") })
            #expect(server.recorder.all.isEmpty)
            let friend = try await curl("\(server.url)", through: proxy, "--proxy-user", "ann:se:cret")
            #expect(friend.output == [#""World""#])
            #expect(proxy.requests.all.last?.values("Proxy-Authorization") == ["Basic YW5uOnNlOmNyZXQ="])
            // The proxy's refusal names the scheme, so a client that sends credentials only on request gets in as well.
            let asked = try await curl("\(server.url)", through: proxy, "--proxy-anyauth", "--proxy-user", "ann:se:cret")
            #expect(asked.output == [#""World""#])
        }
        await server.stop()
    }

    @Test(arguments: [403, 407, 502, 503]) func refusalsCarryTheirStatus(status: Int) async throws {
        try await withWatchdog {
            let proxy = try ConnectProxy(reply: .refused(status: status))
            let result = try await curl("http://nowhere.invalid", through: proxy)
            #expect(result.errors.contains { $0.contains("\(status)") })
            #expect(result.end == .exit(56))
        }
    }

    @Test func oddRepliesThatGrantATunnel() async throws {
        let server = try await server()
        try await withWatchdog {
            for reply in [
                ConnectProxy.Reply.established(cut: .every(1)), .established(cut: .at(30)), .establishedHTTP10,
                .establishedWithBodyLength,
            ] {
                let proxy = try ConnectProxy(to: server.port, reply: reply)
                #expect(try await curl("http://nowhere.invalid", through: proxy).output == [#""World""#], "\(reply)")
            }
        }
        await server.stop()
    }
}
#endif
