#if os(Linux)
import Foundation
import Processes
import Testing
import TestSupport

/// The commands' options for the route to the server: proxies and TLS.
@Suite(.serialized) struct CommandLineRouteTests {
    @Test func listenGoesThroughTheProxyItIsGiven() async throws {
        try await withWatchdog {
            let requests = Note<String>()
            let proxy = try RawServer { connection in
                requests.send(try connection.readRequest())
                try connection.send("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
            }
            let listen = try Command(
                "listen", "news", "--host", "channels.invalid", "--port", "6001", "--proxy",
                "http://ann:s%3Acret@127.0.0.1:\(proxy.port)")
            try await listen.errors.next(containing: "HTTP 407 (it doesn't take the credentials)")
            let request = try #require(await requests.next())
            #expect(request.hasPrefix("CONNECT channels.invalid:6001 HTTP/1.1\r\n"))
            #expect(request.contains("\r\nProxy-Authorization: Basic \(Data("ann:s:cret".utf8).base64EncodedString())\r\n"))
            #expect(!listen.errors.all.contains { $0.contains("cret") }, "\(listen.errors.all)")
        }
    }

    @Test func listenTrustsTheAuthorityItIsGiven() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start(tls: .throwaway)
            let file = try #require(server.certificateAuthority).file().path
            let arguments = ["listen", "news", "--tls", "--port", String(try #require(server.url.port))]
            let distrusting = try Command(arguments)
            try await distrusting.errors.next(containing: "certificate")
            let trusting = try Command(arguments + ["--ca-file", file])
            try await trusting.errors.next(containing: "subscribed to news")
            await server.stop()
        }
    }

    /// The message doesn't repeat the value, which may contain a password.
    @Test(arguments: ["socks5://ann:s3cret@127.0.0.1:1080", "ann:s3cret@127.0.0.1:port"])
    func whatIsNoProxyIsRefused(proxy: String) async throws {
        try await withWatchdog {
            let listen = try Command("listen", "news", "--proxy", proxy)
            #expect(await listen.end() == .exit(64))
            let errors = await listen.errors.toEnd()
            #expect(errors.first == "Error: --proxy takes none, or http://user:password@host:port", "\(errors)")
            #expect(!errors.contains { $0.contains("s3cret") }, "\(errors)")
        }
    }

    @Test func theDemoGoesThroughWhatStandsInFrontOfItsServer() async throws {
        try await withWatchdog {
            let port = try RawServer.refusingPort()
            let front = try NetworkFaultProxy.start(to: "127.0.0.1", port: port.port, tls: .throwaway)
            let file = try #require(front.certificateAuthority).file().path
            close(port.descriptor)
            let demo = try Command(
                "demo", "--front", "127.0.0.1:\(front.port)", "--server-port", String(port.port), "--tls", "--ca-file", file)
            #expect(await demo.end() == .exit(0), "\(demo.errors.all)")
            #expect(await demo.output.toEnd().last == "all 11 steps happened")
            #expect(front.connectionCount >= 3)
        }
    }

    @Test func theDemoSaysWhyTheFirstConnectionFails() async throws {
        try await withWatchdog {
            let refusing = try RawServer.refusingPort()
            defer { close(refusing.descriptor) }
            let demo = try Command("demo", "--proxy", "http://127.0.0.1:\(refusing.port)")
            #expect(await demo.end() == .exit(75))
            let errors = await demo.errors.toEnd()
            let error = errors.last { $0.hasPrefix("Error: ") }
            #expect(error?.hasPrefix("Error: step 2, ann and bob connect: ") == true, "\(errors)")
            #expect(error?.contains("Proxy 127.0.0.1:\(refusing.port)") == true, "\(errors)")
            #expect(!errors.contains { $0.contains("nothing refers to the client") }, "\(errors)")
        }
    }

    @Test(arguments: [
        ["--tls"], ["--front", "127.0.0.1:8080"], ["--front", "127.0.0.1", "--server-port", "6001"],
        ["--front", ":80", "--server-port", "6001"], ["--front", "[::1]:65536", "--server-port", "6001"],
    ])
    func theDemoRefusesWhatMakesNoSense(arguments: [String]) async throws {
        try await withWatchdog {
            let demo = try Command(["demo"] + arguments)
            #expect(await demo.end() == .exit(64))
        }
    }
}
#endif
