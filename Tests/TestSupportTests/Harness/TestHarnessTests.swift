import Foundation
import TestSupport
import Testing

struct TestHarnessTests {
    @Test func `An error recorded on another thread fails the test`() throws {
        struct Trouble: Error {}
        let failure = try failingTest { harness in
            let done = DispatchSemaphore(value: 0)
            Thread {
                harness.record(Trouble())
                harness.record("a callback came twice")
                done.signal()
            }.start()
            done.wait()
        }
        #expect(failure.findings.map(\.description) == ["error: Trouble()", "error: a callback came twice"])
    }

    @Test func `The story of a very long test keeps its latest entries`() {
        let harness = TestHarness()
        for number in 0..<25_000 { harness.timeline.note("note", "\(number)") }
        #expect(harness.timeline.entries.count == 15_000)
        #expect(harness.timeline.entries.last?.text == "24999")
        #expect(harness.timeline.description.hasPrefix("  … 24960 earlier\n"))
    }

    @Test func `The report has the findings and the whole story`() throws {
        let text = try failingTest { harness in
            let pusher = harness.makePusher()
            pusher.connect()
            pusher.subscribe("news")
            harness.session.stub("GET /a", .ok)
        }.description
        #expect(text.hasPrefix("the harness made at TestHarnessTests.swift:"))
        #expect(text.contains("ended with 1 finding:\n- unused stub: GET /a (TestHarnessTests.swift:"))
        #expect(text.contains("what happened:\n  0.0 seconds  log  debug: connecting attempt=1\n  0.0 seconds  opened  #1"))
        #expect(text.contains("pusher_internal:subscription_succeeded"))
    }

    @Test func `The report hides secrets`() throws {
        let text = try failingTest { harness in
            let pusher = harness.makePusher()
            pusher.connect()
            pusher.subscribe("private-room")
            try harness.session.ask("http://a/b?auth_signature=s3cr3t&page=1")
        }.description
        #expect(text.contains("nothing answers GET http://a/b?auth_signature=<redacted>&page=1"))
        #expect(text.contains("request  GET http://a/b?auth_signature=<redacted>&page=1"))
        #expect(text.contains(#""auth":"local-key:<redacted>""#))
        #expect(!text.contains("s3cr3t"))
    }

    @Test func `Harnesses with the same seed tell the same story`() throws {
        func story(seed: UInt64) throws -> String {
            try withTestHarness(seed: seed) { harness in
                let pushers = (0..<3).map { _ in harness.makePusher() }
                for pusher in pushers {
                    pusher.connect()
                    pusher.subscribe("presence-lobby")
                }
                harness.server.shutdown()
                harness.scheduler.advance(by: .seconds(30))
                return harness.timeline.description
            }
        }
        #expect(try story(seed: 7) == story(seed: 7))
        #expect(try story(seed: 7) != story(seed: 8))
    }
}

/// A harness with real servers.
struct TestHarnessServerTests {
    @Test func `An in-memory client configured for a real server's address is found`() async throws {
        let ports = Locked<[Int]>([])
        let failure = try await failingTest { harness in
            let server = try await harness.startServer()
            let proxy = try harness.startProxy(to: server)
            ports.withLock { $0 = [server.port, proxy.port] }
            let addresses = [(server.host, server.port), ("localhost", proxy.port), ("localhost", 1), ("a", server.port)]
            for (host, port) in addresses {
                let pusher = harness.makePusher { options in
                    options.host = .host(host)
                    options.port = port
                    options.useTLS = false
                }
                pusher.connect()
                #expect(pusher.connection.connectionState == .connected)
            }
        }
        let place = #/^the socket made at TestHarnessTests.swift:\d+ is in memory, /#
        let advice = "make a client for that with Pusher(key:options:)"
        let served = zip(["LocalServer at 127.0.0.1", "NetworkFaultProxy at localhost"], ports.withLock { $0 })
        let text = failure.findings.map { $0.text.replacing(place, with: "") }
        #expect(text == served.map { "and reached the server there in the place of the \($0):\($1); \(advice)" })
    }

    @Test func `A fault for a proxy's connection that has ended or never comes is found`() async throws {
        let name = Locked("")
        let failure = try await failingTest { harness in
            let server = try await harness.startServer()
            let proxy = try harness.startProxy(to: server)
            name.withLock { $0 = "the proxy at 127.0.0.1:\(proxy.port)" }
            try proxy.inject(.latency(.zero), onConnection: 1)
            _ = try await RawWebSocket(port: proxy.port)
            proxy.cutAll()
            try proxy.inject(.stall, onConnection: 1)
            for number in [0, 2] { try proxy.inject(.halfClose, onConnection: number) }
        }
        let texts = [
            "\(Fault.stall) came too late for connection 1 of \(name.withLock { $0 })",
            "\(Fault.halfClose) is for connection 0 of \(name.withLock { $0 }), which had 1",
            "\(Fault.halfClose) is for connection 2 of \(name.withLock { $0 }), which had 1",
        ]
        #expect(failure.findings == texts.map { Finding(.unplayedStep, $0) })
    }

    @Test func `A started server has the harness's apps and profile unless it is given others`() async throws {
        let app = ServerApp(id: "7", key: "app-key", secret: "app-secret")
        // This server accepts unsigned requests.
        try await withTestHarness(apps: [app], profile: .pusherFake) { harness in
            let same = try await harness.startServer()
            #expect(same.environment["PUSHER_KEY"] == "app-key")
            #expect(try await same.ask("/apps/7/channels").hasPrefix("200 "))
            let other = try await harness.startServer(apps: [.local], profile: .hosted)
            #expect(other.environment["PUSHER_KEY"] == "local-key")
            #expect(try await other.ask("/apps/1/channels").hasPrefix("401 "))
        }
    }

    @Test func `An event that a started server publishes to nobody is found`() async throws {
        let failure = try await failingTest { harness in
            let server = try await harness.startServer()
            let receivers = server.publish(channel: "news", event: "headline", data: "hello")
            #expect(receivers == 0)
            server.publish(channel: "cache-news", event: "headline", data: "hello")
        }
        let place = "published at TestHarnessTests.swift:\(#line - 4)"
        let text = "headline on news, \(place), reached nobody; nobody is subscribed to any channel"
        #expect(failure.findings == [Finding(.unheard, text)])
    }

    @Test func `Started servers are stopped with the test, and their unused stubs are found`() async throws {
        let server = Locked<LocalServer?>(nil)
        let failure = try await failingTest(allowing: [.unmatchedRequest]) { harness in
            let started = try await harness.startServer()
            started.stub("GET /unused", .ok)
            try await started.ask("/hello")
            server.withLock { $0 = started }
        }
        #expect(failure.findings.map(\.kind) == [.unusedStub])
        #expect(failure.timeline.contains("server  GET /hello 404"))
        let stopped = try #require(server.withLock { $0 })
        #expect(stopped.connections.isEmpty)
        await #expect(throws: (any Error).self) { try await stopped.ask("/") }
    }
}
