#if os(Linux)
import Dispatch
import Foundation
import FoundationNetworking
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// Requests on connections that turn out to be gone: which of them are repeated, how often, and when.
@Suite(.watchdog) struct HTTPRepeatTests {
    private let rig = HTTPRig()
    private let log = HTTPLog()

    /// Starts the numbered requests at the same time; they end in any order.
    private func start(_ numbers: ClosedRange<Int>, port: Int, ends: Note<Int?>) throws {
        for number in numbers {
            rig.session.dataTask(with: try HTTPRig.request(port: port, "/\(number)")) { _, response, _ in
                ends.send((response as? HTTPURLResponse)?.statusCode)
            }.resume()
        }
    }

    @Test(arguments: [false, true])
    func `A GET request on a reused connection that is gone is repeated on a new one`(isReset: Bool) async throws {
        let server = try RawServer(log: log, resets: isReset) { $0 == 1 && $1 == 2 ? nil : okay() }
        for number in 1...3 { #expect(try await rig.reply(HTTPRig.request(port: server.port, "/\(number)")) == "200 ok") }
        #expect(log.requests == ["/1 #1", "/2 #1", "/2 #2", "/3 #2"])
    }

    /// The request was sent completely, so the server may have carried a POST out; only the user can decide to repeat it.
    @Test(arguments: [("GET", ["/1 #1", "/2 #1", "/2 #2"]), ("POST", ["/1 #1", "/2 #1"])])
    func `A request on a reused connection that is gone is repeated only once, and not if it is a POST that was sent completely`(
        method: String, requests: [String]
    ) async throws {
        let server = try RawServer(log: log) { connection, request in (connection, request) == (1, 1) ? okay() : nil }
        _ = try await rig.reply(HTTPRig.request(port: server.port, "/1"))
        let body = method == "POST" ? "x" : nil
        let failure = try await rig.failure(HTTPRig.request(port: server.port, "/2", method: method, body: body))
        #expect(failure.code == .networkConnectionLost)
        #expect(log.requests == requests)
    }

    /// A server that got only a part of the request can't have acted on it.
    @Test func `A POST request that was not sent completely is repeated`() async throws {
        let size = 16 << 20
        let server = try RawServer { [log] connection in
            let number = log.connected()
            let head = try connection.readRequest()
            log.requested(head, on: number)
            _ = try connection.readBody(of: head)
            try connection.send(okay())
            // Then it hangs up, with most of the next one unread.
            if number == 1 { _ = try connection.readRequest() }
        }
        _ = try await rig.reply(HTTPRig.request(port: server.port, "/1"))
        let body = String(repeating: "x", count: size)
        #expect(try await rig.reply(HTTPRig.request(port: server.port, "/2", method: "POST", body: body)) == "200 ok")
        #expect(log.requests == ["/1 #1", "/2 #2"])
    }

    /// The server has begun to respond, so it has read the request and may have carried it out.
    @Test func `A request whose response has begun is not repeated`() async throws {
        let server = try RawServer { [log] connection in
            let number = log.connected()
            log.requested(try connection.readRequest(), on: number)
            try connection.send(okay())
            log.requested(try connection.readRequest(), on: number)
            try connection.send("H")
        }
        _ = try await rig.reply(HTTPRig.request(port: server.port, "/1"))
        let failure = try await rig.failure(HTTPRig.request(port: server.port, "/2"))
        #expect(failure.code == .networkConnectionLost)
        #expect(log.requests == ["/1 #1", "/2 #1"])
    }

    /// The repeated request gets a new connection, because all existing ones may be gone as well.
    @Test func `A repeated request gets a new connection even if another one is idle`() async throws {
        let (asked, ends) = (Note<Void>(), Note<Int?>())
        let open = DispatchSemaphore(value: 0)
        let server = try RawServer(log: log) { connection, request in
            guard connection <= 2 else { return okay() }
            asked.send(())
            open.wait()
            return request == 1 ? okay() : nil
        }
        try start(1...2, port: server.port, ends: ends)
        for _ in 1...2 { await asked.next() }
        for _ in 1...4 { open.signal() }
        for _ in 1...2 { #expect(await ends.next() == .some(200)) }
        #expect(try await rig.reply(HTTPRig.request(port: server.port, "/3")) == "200 ok")
        #expect(log.requests.count == 4)
        #expect(log.requests.last == "/3 #3")
    }

    @Test func `A repeated request goes ahead of the requests that wait for a connection`() async throws {
        let (asked, ends) = (Note<Void>(), Note<Int?>())
        let open = DispatchSemaphore(value: 0)
        let isGone = Locked(false)
        let server = try RawServer(log: log) { _, request in
            asked.send(())
            open.wait()
            // The first reused connection to get a request ends.
            let isFirst = isGone.withLock { isGone in
                defer { isGone = isGone || request == 2 }
                return request == 2 && !isGone
            }
            return isFirst ? nil : okay()
        }
        let count = ConnectionPool.limit
        try start(1...count, port: server.port, ends: ends)
        for _ in 1...count { await asked.next() }
        for _ in 1...count { open.signal() }
        for _ in 1...count { #expect(await ends.next() == .some(200)) }
        // All connections are busy, and one request waits for one of them.
        try start(11...11 + count, port: server.port, ends: ends)
        for _ in 1...count { await asked.next() }
        open.signal()
        await asked.next()
        let paths = log.requests.map { $0.prefix { $0 != " " } }
        #expect(paths[count..<2 * count].contains(paths[2 * count]))
        for _ in 0...count { open.signal() }
        for _ in 0...count { #expect(await ends.next() == .some(200)) }
    }
}
#endif
