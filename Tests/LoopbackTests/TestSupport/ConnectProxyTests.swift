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

    private func server() async throws -> LocalServer {
        let server = try await LocalServer.start()
        server.router["/hello"] = JSONResponse { _ in "World" }
        return server
    }

    @Test(arguments: Loopback.allCases) func `A tunnel leads to the address that the CONNECT request names`(address: Loopback)
        async throws
    {
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

    @Test func `A tunnel to an unknown host or to another machine is refused with 502`() async throws {
        try await withWatchdog {
            let proxy = try ConnectProxy()
            for target in ["http://nowhere.invalid", "http://192.0.2.1:80"] {
                let result = try await curl(target, through: proxy)
                #expect(result.errors.contains { $0.contains("502") })
                #expect(result.end == .exit(56))
            }
        }
    }

    @Test func `A proxy with credentials opens a tunnel only for a client that shows them`() async throws {
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
}

/// The tests' CONNECT proxy, checked byte for byte.
@Suite struct ConnectProxyReplyTests {
    private static let granted = "HTTP/1.1 200 Connection established\r\n\r\n"

    private func client(of proxy: ConnectProxy, to port: Int = 1, saying rest: String = "") throws -> RawClient {
        let client = try RawClient(port: proxy.port)
        client.send(Array("CONNECT 127.0.0.1:\(port) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n\(rest)".utf8))
        return client
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Returns a server that sends back the received bytes once the client has finished.
    private func echo() throws -> RawServer {
        try RawServer { connection in
            try connection.send(try connection.readToEnd())
        }
    }

    @Test(arguments: [
        (ConnectProxy.Reply.established(), granted), (.establishedHTTP10, "HTTP/1.0 200 Connection established\r\n\r\n"),
        (.establishedWithBodyLength, "HTTP/1.1 200 Connection established\r\nContent-Length: 100\r\n\r\n"),
        (.establishedFollowed(by: Array("early".utf8)), granted + "early"),
    ])
    func `A proxy that grants a tunnel sends the configured reply and then carries the bytes`(
        reply: ConnectProxy.Reply, head: String
    ) async throws {
        let server = try echo()
        let proxy = try ConnectProxy(reply: reply)
        try await withWatchdog {
            let client = try client(of: proxy, to: server.port)
            #expect(text(try await client.reads(head.utf8.count).bytes) == head)
            client.send(Array("hello".utf8))
            client.finish()
            let read = try await client.reads()
            #expect(text(read.bytes) == "hello")
            #expect(read.end == .finished)
        }
    }

    @Test(arguments: [
        (Cut.every(1), Array(repeating: 1, count: granted.utf8.count)), (.at(1), [1, granted.utf8.count - 1]),
        (.at(granted.utf8.count - 1), [granted.utf8.count - 1, 1]), (.every(7), [7, 7, 7, 7, 7, 4]),
        (.nowhere, [granted.utf8.count]),
    ])
    func `A proxy's reply arrives in pieces of the configured sizes`(cut: Cut, sizes: [Int]) async throws {
        let server = try echo()
        let proxy = try ConnectProxy(reply: .established(cut: cut))
        try await withWatchdog {
            let client = try client(of: proxy, to: server.port)
            let pieces = try await onThread { client.readPieces(Self.granted.utf8.count) }
            #expect(pieces.map(\.count) == sizes)
            #expect(text(pieces.flatMap { $0 }) == Self.granted)
        }
    }

    @Test(arguments: [
        (ConnectProxy.Reply.garbage([0xFF, 0, 13]), "CONNECT a:1 HTTP/1.1", [0xFF, 0, 13]), (.closed, "CONNECT a:1 HTTP/1.1", []),
        (.refused(status: 503), "CONNECT a:1 HTTP/1.1", refusal(503)), (.established(), "CONNECT a:1 HTTP/1.1", refusal(502)),
        (.established(), "GET / HTTP/1.1", refusal(400)), (.established(), "CONNECT HTTP/1.1", refusal(400)),
    ])
    func `A proxy that grants no tunnel sends its refusal and hangs up`(reply: ConnectProxy.Reply, line: String, bytes: [UInt8])
        async throws
    {
        let proxy = try ConnectProxy(reply: reply)
        try await withWatchdog {
            let client = try RawClient(port: proxy.port)
            client.send(Array("\(line)\r\n\r\n".utf8))
            let read = try await client.reads()
            #expect(read.bytes == bytes)
            #expect(read.end == .finished)
            #expect(proxy.requests.all.map(\.line) == [line])
        }
    }

    private static func refusal(_ status: Int) -> [UInt8] {
        let head = "HTTP/1.1 \(status) Refused\r\nContent-Type: text/plain\r\nContent-Length: 19\r\nConnection: close\r\n\r\n"
        return Array("\(head)the proxy says \(status)\n".utf8)
    }

    // MARK: Stopping

    @Test(arguments: [ConnectProxy.Reply.established(), .established(cut: .every(1)), .silence, .endlessHeader])
    func `A stopped proxy leaves no socket and no thread behind`(reply: ConnectProxy.Reply) async throws {
        let server = try RawServer { _ = $0.readRest() }
        try await withWatchdog {
            let proxy = try ConnectProxy(reply: reply)
            let client = try client(of: proxy, to: server.port)
            let idle = try RawClient(port: proxy.port)
            _ = await proxy.requests.next()
            if case .established = reply { _ = try await client.reads(Self.granted.utf8.count) }
            let tunnels = ProcessTables.sockets(connectedTo: server.port)
            #expect(tunnels.count == proxy.openTunnelCount)
            let sockets = tunnels.union(ProcessTables.sockets(atPort: proxy.port))
            #expect(sockets.count > 1 + tunnels.count)
            proxy.stop()
            #expect(proxy.openTunnelCount == 0)
            #expect(sockets.isDisjoint(with: ProcessTables.sockets))
            // A thread that has ended stays in the system's list for a moment.
            await pollTheSystem { ProcessTables.threads(named: proxy.threadName) == 0 }
            withExtendedLifetime((client, idle)) {}
        }
    }
}
#endif
