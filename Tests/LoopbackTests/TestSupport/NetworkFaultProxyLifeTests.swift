#if os(Linux)
import Foundation
import Processes
import PusherChannels
import Testing
import TestSupport

/// A proxy without faults forwards everything, copes with peers that vanish, and leaves nothing behind.
@Suite(.watchdog) struct NetworkFaultProxyLifeTests {
    // MARK: Ends

    @Test func `The fault proxy forwards a client's half-close, and the server's later reply`() async throws {
        let rig = try ProxyRig { try $0.send($0.readToEnd().reversed()) }
        let client = try rig.client()
        client.send([1, 2, 3])
        client.finish()
        let read = try await client.reads()
        #expect(read.bytes == [3, 2, 1])
        #expect(read.end == .finished)
        #expect(rig.proxy.bytesToServer == 3)
        #expect(rig.proxy.bytesToClients == 3)
    }

    @Test func `The fault proxy forwards a server's half-close while the client goes on sending`() async throws {
        let heard = Note<[UInt8]?>()
        let rig = try ProxyRig { connection in
            try connection.send([1])
            connection.finish()
            heard.send(try? connection.readToEnd())
        }
        let client = try rig.client()
        #expect(try await client.reads().end == .finished)
        client.send([2, 3])
        client.finish()
        #expect(await heard.next() == .some([2, 3]))
    }

    @Test func `The fault proxy forwards a server's reset after everything that the server sent`() async throws {
        let rig = try ProxyRig { connection in
            try connection.send([UInt8](repeating: 1, count: 100_000))
            _ = try connection.readRequest()
            connection.resetOnClose()
        }
        let client = try rig.client()
        #expect(try await client.reads(100_000).bytes.count == 100_000)
        client.send(Array("\r\n\r\n".utf8))
        #expect(try await client.reads().end == .reset)
    }

    @Test func `The fault proxy resets a client's connection if the server refuses connections`() async throws {
        let (port, descriptor) = try RawServer.refusingPort()
        defer { close(descriptor) }
        let proxy = try NetworkFaultProxy.start(to: "localhost", port: port)
        let read = try await RawClient(port: proxy.port).reads()
        #expect(read.bytes == [])
        #expect(read.end == .reset)
    }

    @Test func `The fault proxy ends the server's connection when the client disconnects, after the client's last bytes`()
        async throws
    {
        let heard = Note<String?>()
        let rig = try ProxyRig { connection in
            do {
                while true { try connection.send([UInt8](repeating: 0, count: 4096)) }
            } catch {
                heard.send(try? connection.readRequest())
            }
        }
        do {
            let client = try rig.client()
            _ = try await client.reads(10_000)
            client.send(Array("bye\r\n\r\n".utf8))
        }
        #expect(await heard.next() == .some("bye\r\n\r\n"))
    }

    // MARK: Clients that don't read

    @Test func `The fault proxy buffers a limited number of bytes during a stall, and loses none`() async throws {
        let sent = Note<Int>()
        let rig = try ProxyRig([.stall(after: .bytes(1000))]) { connection in
            sent.send(connection.sendUntilBlocked())
            try connection.readToEnd()
        }
        let client = try rig.client()
        let count = try #require(await sent.next())
        // The systems' buffers hold some megabytes, the proxy a quarter of one.
        #expect(count < 32 << 20)
        #expect(rig.proxy.bytesToClients == 1000)
        rig.proxy.heal()
        let bytes = try await client.reads(count).bytes
        #expect(bytes.count == count)
        #expect(bytes.allSatisfy { $0 == 0x55 })
    }

    @Test func `An injected reset doesn't wait forever for a client that doesn't read`() async throws {
        let rig = try ProxyRig { _ = $0.sendUntilBlocked(seconds: 10) }
        let client = try rig.client()
        _ = try await client.reads(1)
        try rig.proxy.inject(.reset)
        #expect(try await client.reads().end == .reset)
    }

    // MARK: Many connections

    @Test func `The fault proxy keeps the bytes of simultaneous connections apart`() async throws {
        let rig = try ProxyRig { try $0.send(try $0.readToEnd()) }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try await onThread {
                        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* (number + 1)) }
                        let client = try rig.client()
                        client.send(bytes)
                        client.finish()
                        return client.read().bytes == bytes
                    }
                }
            }
            for try await isSame in group { #expect(isSame) }
        }
    }

    @Test func `The fault proxy can be used from many threads at once, and leaves no connection open`() async throws {
        let rig = try ProxyRig { connection in
            while true { try connection.send([UInt8](repeating: 0x81, count: 1000)) }
        }
        let proxy = rig.proxy
        let faults: [Fault] = [
            .reset(after: .bytes(5000)), .truncate(after: .bytes(300)), .halfClose, .stall, .refused, .latency(.milliseconds(1)),
            .bandwidth(bytesPerSecond: 1_000_000), .dribble(bytes: 10, every: .milliseconds(1)),
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    try await onThread {
                        for round in 0..<25 {
                            let client = try? rig.client()
                            try proxy.inject(faults[(number + round) % faults.count])
                            _ = client?.read(2000, patience: .milliseconds(1))
                            if round % 3 == 0 { proxy.heal() }
                            if round % 5 == 0 { proxy.cutAll() }
                            if number == 3, round == 20 { proxy.stop() }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(proxy.openConnectionCount == 0)
        proxy.stop()
    }

    @Test func `Stopped or released fault proxies leave no threads and descriptors behind`() async throws {
        let server = try RawServer { try $0.readToEnd() }
        let rounds = 200
        let descriptors = ProcessTables.descriptors(of: getpid())
        for round in 0..<rounds {
            let proxy = try NetworkFaultProxy.start(to: "127.0.0.1", port: server.port)
            let client = try RawClient(port: proxy.port)
            client.send([1])
            if round % 2 == 0 { proxy.stop() }
        }
        // Other tests have their own threads and descriptors, but a leak in each round would be far more. The server's side of a
        // connection is closed only when the server's thread gets to it.
        await pollTheSystem {
            ProcessTables.threads(named: "fault-proxy") < rounds / 4
                && ProcessTables.descriptors(of: getpid()) - descriptors < rounds / 2
        }
    }
}
#endif
