#if os(Linux)
import Foundation
import FoundationNetworking
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// A request can be cancelled at any time: it ends once, and leaves nothing behind.
@Suite(.watchdog) struct HTTPCancelTests {
    /// A task, with the number and the results of its handler's calls.
    private struct Started {
        let task: NetworkHTTPTask
        let ends = Note<URLError.Code?>()
        let count = Locked(0)

        init(_ session: NetworkHTTPSession, _ request: URLRequest) {
            task = session.dataTask(with: request) { [ends, count] data, response, error in
                count.withLock { $0 += 1 }
                ends.send((error as? URLError)?.code)
            }
        }

        /// Waits for the end, and for anything that may follow it.
        func end() async -> URLError.Code? {
            let end = await ends.next() ?? nil
            task.cancel()
            task.resume()
            await serviceTurn()
            await serviceTurn()
            #expect(count.withLock { $0 } == 1)
            return end
        }
    }

    private let session = NetworkHTTPSession(proxy: .none, loop: .patient)

    /// The server sends no response, so none can arrive before the task is cancelled.
    @Test(arguments: [false, true])
    func `A request that is canceled before or as soon as it starts leaves no connection behind`(isStarted: Bool) async throws {
        let log = HTTPLog()
        let server = try RawServer { connection in
            _ = log.connected()
            try connection.readToEnd()
        }
        let started = Started(session, try HTTPRig.request(port: server.port))
        if isStarted { started.task.resume() }
        started.task.cancel()
        if !isStarted { started.task.resume() }
        #expect(await started.end() == .cancelled)
        #expect(ProcessTables.connections(toPort: server.port) == 0)
        if !isStarted { #expect(log.connections == 0) }
    }

    @Test func `A request that is canceled during the look-up of its host withdraws the look-up`() async throws {
        let reply = Locked<AddressResolver.Completion?>(nil)
        let (asked, withdrawn) = (Note<Void>(), Note<Void>())
        let log = HTTPLog()
        let server = try RawServer(log: log) { _, _ in okay() }
        let session = NetworkHTTPSession(
            proxy: .none, loop: .patient,
            resolve: { _, completion in
                reply.withLock { $0 = completion }
                asked.send(())
                return { withdrawn.send(()) }
            })
        let started = Started(session, try HTTPRig.request("http://slow.example:\(server.port)/"))
        started.task.resume()
        await asked.next()
        started.task.cancel()
        #expect(await started.end() == .cancelled)
        await withdrawn.next()
        reply.withLock { $0 }?(.success(["127.0.0.1"]))
        await serviceTurn()
        #expect(ProcessTables.connections(toPort: server.port) == 0)
        #expect(log.connections == 0)
    }

    /// Cancels in the TLS handshake, after the request, and in the middle of the response.
    @Test(arguments: [("https", ""), ("http", ""), ("http", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell")])
    func `A request that is canceled under way closes its connection`(scheme: String, sent: String) async throws {
        let asked = Note<Void>()
        let gone = Note<Bool>()
        let server = try RawServer { connection in
            if scheme == "http" { _ = try connection.readRequest() }
            try connection.send(sent)
            asked.send(())
            gone.send((try? connection.readToEnd()) != nil)
        }
        let started = Started(session, try HTTPRig.request("\(scheme)://127.0.0.1:\(server.port)/"))
        started.task.resume()
        await asked.next()
        await serviceTurn()
        started.task.cancel()
        #expect(await started.end() == .cancelled)
        _ = await gone.next()
        #expect(ProcessTables.connections(toPort: server.port) == 0)
    }

    @Test func `A request that is canceled while it waits for a connection is never sent`() async throws {
        let log = HTTPLog()
        let asked = Note<Void>()
        let open = DispatchSemaphore(value: 0)
        let server = try RawServer(log: log) { _, _ in
            asked.send(())
            open.wait()
            return okay()
        }
        let started = try (1...8).map { Started(session, try HTTPRig.request(port: server.port, "/\($0)")) }
        for one in started { one.task.resume() }
        for _ in 1...6 { await asked.next() }
        started[6].task.cancel()
        #expect(await started[6].end() == .cancelled)
        for _ in 1...7 { open.signal() }
        for index in [0, 1, 2, 3, 4, 5, 7] { #expect(await started[index].end() == nil) }
        #expect(log.requests.count == 7)
        #expect(!log.requests.contains { $0.hasPrefix("/7") })
    }

    /// The time that a request waits for a connection counts toward its time-out. A cancelled one makes room for the next.
    @Test func `A request that waits for a connection times out, or takes the place of a canceled one`() async throws {
        let log = HTTPLog()
        let asked = Note<Void>()
        let server = try RawServer { connection in
            let number = log.connected()
            _ = try connection.readRequest()
            asked.send(())
            if number > 6 { try connection.send(okay()) }
            try connection.readToEnd()
        }
        let busy = try (1...7).map { _ in Started(session, try HTTPRig.request(port: server.port)) }
        for one in busy[..<6] { one.task.resume() }
        for _ in 1...6 { await asked.next() }
        let failure = try await HTTPRig(session).failure(HTTPRig.request(port: server.port, timeout: 0.1))
        #expect(failure.code == .timedOut)
        #expect(failure.failure.message == "No connection to 127.0.0.1:\(server.port) was free for the request within 0.1 s")
        busy[6].task.resume()
        busy[3].task.cancel()
        #expect(await busy[3].end() == .cancelled)
        #expect(await busy[6].end() == nil)
        for index in [0, 1, 2, 4, 5] {
            busy[index].task.cancel()
            #expect(await busy[index].end() == .cancelled)
        }
        // The one that had a response.
        #expect(ProcessTables.connections(toPort: server.port) == 1)
    }

    /// A cancelled request lets waiting ones go ahead, which fail at once here. They must end one after the other, not nested.
    @Test func `Waiting requests that fail at once end one after the other, in order`() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("roots-\(UUID().uuidString).pem")
        try CertificateAuthority().write(to: file)
        let tls = TLSConfiguration(roots: .only(.file(file.path)))
        let session = NetworkHTTPSession(tls: tls, proxy: .none, loop: .patient, resolve: { _, _ in {} })
        let order = Note<Int>()
        let tasks = try (1...12).map { number in
            session.dataTask(with: try HTTPRig.request("https://slow.example/")) { _, _, _ in order.send(number) }
        }
        for task in tasks { task.resume() }
        await serviceTurn()
        // From now on no connection has an authority to trust.
        try FileManager.default.removeItem(at: file)
        tasks[0].cancel()
        for number in [7, 8, 9, 10, 11, 12, 1] { #expect(await order.next() == number) }
        for task in tasks { task.cancel() }
    }

    @Test func `The loop keeps nothing of a request that has ended`() async throws {
        let (counts, open, done) = (Note<Int>(), DispatchSemaphore(value: 0), Note<Void>())
        let server = try RawServer(log: HTTPLog()) { _, _ in
            open.wait()
            return okay()
        }
        let loop = NetworkLoop(timeouts: .long)
        let session = NetworkHTTPSession(proxy: .none, loop: loop)
        session.dataTask(with: try HTTPRig.request(port: server.port)) { _, _, _ in done.send(()) }.resume()
        loop.post { counts.send($0.service(HTTPClient.self).count) }
        #expect(await counts.next() == 1)
        open.signal()
        await done.next()
        loop.post { counts.send($0.service(HTTPClient.self).count) }
        #expect(await counts.next() == 0)
        await loop.shutdown()
    }

    /// The seventh waits for a connection, and the eighth's isn't established.
    // Proves P15.11.
    @Test func `After a loop's shutdown, only a request that a connection got may have been carried out`() async throws {
        let asked = Note<Void>()
        let server = try RawServer { connection in
            _ = try connection.readRequest()
            asked.send(())
            try connection.readToEnd()
        }
        let full = try FullListener()
        let loop = NetworkLoop(timeouts: .long)
        let session = NetworkHTTPSession(proxy: .none, loop: loop)
        let ends = Note<String>()
        for number in 1...8 {
            let request = try HTTPRig.request(port: number == 8 ? full.port : server.port)
            session.dataTask(with: request) { _, _, error in
                let error = error as? URLError
                ends.send("\(error?.code == .cancelled) \(error?.isOfUnsentRequest == true ? number : 0)")
            }.resume()
        }
        for _ in 1...6 { await asked.next() }
        await loop.shutdown()
        var outcomes: [String] = []
        for _ in 1...8 { outcomes.append(await ends.next() ?? "none") }
        #expect(outcomes.sorted() == Array(repeating: "true 0", count: 6) + ["true 7", "true 8"])
        withExtendedLifetime((server, full)) {}
    }

    @Test func `A request's completion handler is released once it has been called`() async throws {
        final class Owner: Sendable {}
        let server = try RawServer(log: HTTPLog()) { _, _ in okay() }
        let owner = Locked<Owner?>(Owner())
        weak let kept = owner.withLock { $0 }
        let done = Note<Void>()
        let task: NetworkHTTPTask
        do {
            let held = owner.withLock { $0 }
            task = session.dataTask(with: try HTTPRig.request(port: server.port)) { _, _, _ in
                withExtendedLifetime(held) { done.send(()) }
            }
        }
        owner.withLock { $0 = nil }
        #expect(kept != nil)
        task.resume()
        await done.next()
        await serviceTurn()
        #expect(kept == nil)
        withExtendedLifetime(task) {}
    }
}
#endif
