#if os(Linux)
import Dispatch
import Foundation
import FoundationNetworking
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// Connections that carry one request after another, and what happens when they are gone.
@Suite(.watchdog) struct HTTPReuseTests {
    private let rig = HTTPRig()
    private let log = HTTPLog()

    @Test func `Requests beyond six at a time wait for a connection in order`() async throws {
        let gate = Note<Void>()
        let open = DispatchSemaphore(value: 0)
        let server = try RawServer(log: log) { _, request in
            if request == 1 {
                gate.send(())
                open.wait()
            }
            return okay()
        }
        let order = Note<String>()
        for number in 1...12 {
            let path = "/\(number)"
            rig.session.dataTask(with: try HTTPRig.request(port: server.port, path)) { _, response, _ in
                order.send(response == nil ? "nothing" : path)
            }.resume()
        }
        for _ in 1...6 { await gate.next() }
        #expect(Set(log.requests.map { $0.prefix(2) }) == ["/1", "/2", "/3", "/4", "/5", "/6"])
        // One connection continues, and takes all waiting requests.
        open.signal()
        for _ in 1...7 { _ = await order.next() }
        #expect(log.requests.dropFirst(6).map { $0.prefix { $0 != " " } } == ["/7", "/8", "/9", "/10", "/11", "/12"])
        for _ in 1...5 { open.signal() }
        for _ in 1...5 { _ = await order.next() }
        #expect(log.connections == 6)
    }

    // MARK: Connections that end

    @Test(arguments: ["Connection: close\r\n", "Keep-Alive: timeout=1\r\n"])
    func `A connection that the server says it will close is not used again`(field: String) async throws {
        let server = try RawServer(log: log) { _, _ in okay("x", field) }
        for _ in 1...3 { #expect(try await rig.reply(HTTPRig.request(port: server.port)) == "200 x") }
        #expect(log.connections == 3)
    }

    @Test func `A request after the server closed an idle connection gets a new connection`() async throws {
        let closed = Note<Void>()
        let server = try RawServer { [log] connection in
            let number = log.connected()
            _ = try connection.readRequest()
            try connection.send(okay("\(number)"))
            if number == 1 { connection.finish() }
            try connection.readToEnd()
            closed.send(())
        }
        #expect(try await rig.reply(HTTPRig.request(port: server.port)) == "200 1")
        // The client has closed its end, too.
        await closed.next()
        #expect(try await rig.reply(HTTPRig.request(port: server.port)) == "200 2")
    }

    /// A busy loop may handle the next request, which must not be sent twice, before it sees the connection's end.
    @Test func `A POST request isn't sent on an idle connection that the server has just closed`() async throws {
        let (leave, left) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let server = try RawServer { [log] connection in
            let number = log.connected()
            _ = try connection.readRequest()
            try connection.send(okay("\(number)"))
            if number == 1 {
                leave.wait()
                connection.finish()
                left.signal()
            }
            try connection.readToEnd()
        }
        let loop = NetworkLoop(timeouts: .long)
        let rig = HTTPRig(NetworkHTTPSession(proxy: .none, loop: loop))
        #expect(try await rig.reply(HTTPRig.request(port: server.port)) == "200 1")
        let end = Note<String>()
        let publish = rig.session.dataTask(with: try HTTPRig.request(port: server.port, method: "POST", body: "once")) {
            data, _, error in
            end.send(data.map { String(decoding: $0, as: UTF8.self) } ?? "\(String(describing: error))")
        }
        // Commands posted during another command are carried out together, before the loop looks at the sockets.
        loop.post { _ in
            loop.post { _ in
                leave.signal()
                left.wait()
                for client in ProcessTables.descriptors(connectedTo: server.port) {
                    #expect(Readiness.readable.wait(for: client))
                }
            }
            publish.resume()
        }
        #expect(await end.next() == "2")
        await loop.shutdown()
    }

    /// The server waits two seconds, and the client only one, so that no request crosses the server's close.
    @Test func `An idle connection is closed before the server's keep-alive time is over`() async throws {
        let closed = Note<Bool>()
        let server = try RawServer { connection in
            _ = try connection.readRequest()
            try connection.send(okay("x", "Keep-Alive: timeout=2\r\n"))
            closed.send(try connection.readToEnd().isEmpty)
        }
        #expect(try await rig.reply(HTTPRig.request(port: server.port)) == "200 x")
        #expect(await closed.next() == true)
    }

    /// A second response to a request would be mistaken for the response to the next one.
    @Test(arguments: [true, false])
    func `A connection whose server sends more than one response is not used again`(atOnce: Bool) async throws {
        let said = Note<Void>()
        let heard = DispatchSemaphore(value: 0)
        let server = try RawServer { [log] connection in
            let number = log.connected()
            _ = try connection.readRequest()
            if number > 1 {
                try connection.send(okay("another connection"))
            } else if atOnce {
                try connection.send(okay("first") + okay("forged"))
            } else {
                try connection.send(okay("first"))
                heard.wait()
                try connection.send(okay("forged"))
                Delivery.waitUntilArrived(from: connection.descriptor)
                said.send(())
            }
            while true {
                _ = try connection.readRequest()
                try connection.send(okay("used again"))
            }
        }
        #expect(try await rig.reply(HTTPRig.request(port: server.port)) == "200 first")
        heard.signal()
        if !atOnce {
            await said.next()
            // By then the loop has read it.
            for _ in 1...2 { await serviceTurn() }
        }
        #expect(try await rig.reply(HTTPRig.request(port: server.port)) == "200 another connection")
    }

    /// The response arrives before the whole request was sent; the rest would be mistaken for the next request.
    @Test func `A connection whose response came before the end of the request is not used again`() async throws {
        // More than the kernels buffer between client and server.
        let size = 32 << 20
        let heard = DispatchSemaphore(value: 0)
        let isCut = Note<Bool>()
        let server = try RawServer { [log] connection in
            let number = log.connected()
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 413 No\r\nContent-Length: 1\r\n\r\n\(number)")
            guard number == 1 else { return }
            heard.wait()
            isCut.send(connection.readRest().count < size)
        }
        let body = String(repeating: "x", count: size)
        #expect(try await rig.reply(HTTPRig.request(port: server.port, method: "POST", body: body)) == "413 1")
        // Sent at once, because a connection that was kept would be closed for its age eventually.
        #expect(try await rig.reply(HTTPRig.request(port: server.port)) == "413 2")
        heard.signal()
        #expect(await isCut.next() == true)
    }

    @Test func `A connection in use is not closed when its keep-alive time is over`() async throws {
        let (open, end, isOver) = (DispatchSemaphore(value: 0), Note<String>(), Note<URLError.Code?>())
        let server = try RawServer(log: log) { _, request in
            // The connection may be idle for one second.
            if request == 1 { return okay("first", "Keep-Alive: timeout=2\r\n") }
            open.wait()
            return okay("second")
        }
        let silent = try RawServer { try $0.readToEnd() }
        let second = rig.session.dataTask(with: try HTTPRig.request(port: server.port)) { data, _, _ in
            end.send(data.map { String(decoding: $0, as: UTF8.self) } ?? "")
        }
        // A request on the same loop with a later deadline.
        let late = rig.session.dataTask(with: try HTTPRig.request(port: silent.port, timeout: 1)) { _, _, error in
            isOver.send((error as? URLError)?.code)
        }
        // Started from the first response's handler, before the connection is old, however busy the machine is.
        rig.session.dataTask(with: try HTTPRig.request(port: server.port)) { _, _, _ in
            second.resume()
            late.resume()
        }.resume()
        #expect(await isOver.next() == .some(.timedOut))
        open.signal()
        #expect(await end.next() == "second")
        #expect(log.connections == 1)
    }

    // MARK: Connections of sessions

    @Test func `The idle connections of a session are closed when the session is released`() async throws {
        let server = try RawServer(log: log) { _, _ in okay() }
        // Only its task still refers to the session.
        let reply = try await HTTPRig(NetworkHTTPSession(proxy: .none, loop: .patient)).reply(HTTPRig.request(port: server.port))
        #expect(reply == "200 ok")
        // The loop releases the session in the turn in which it responds, and learns of its end in the next.
        await serviceTurn()
        await serviceTurn()
        #expect(ProcessTables.connections(toPort: server.port) == 0)
    }

    @Test func `Sessions routed from one session share connections if their settings are the same`() async throws {
        let server = try RawServer(log: log) { _, _ in okay() }
        let proxy = try NetworkFaultProxy.start(to: "127.0.0.1", port: server.port, tls: .throwaway)
        let authority = try #require(proxy.certificateAuthority)
        let root = NetworkHTTPSession(proxy: .none, loop: .patient)
        var tls = TLSConfiguration(roots: .only(.text(authority.certificatePEM)))
        let request = try HTTPRig.request("https://127.0.0.1:\(proxy.port)/")
        for _ in 1...3 { _ = try await HTTPRig(root.routed(tls: tls, proxy: .none)).reply(request) }
        #expect(proxy.connectionCount == 1)
        tls.minimumVersion = .tls13
        _ = try await HTTPRig(root.routed(tls: tls, proxy: .none)).reply(request)
        #expect(proxy.connectionCount == 2)
        // Connections aren't shared across settings: the root session doesn't trust this authority.
        #expect(try await HTTPRig(root).failure(request).code == .serverCertificateHasUnknownRoot)
        // Another session has its own connections.
        _ = try await HTTPRig(NetworkHTTPSession(tls: tls, proxy: .none, loop: .patient)).reply(request)
        #expect(proxy.connectionCount == 4)
        proxy.stop()
    }

    @Test func `Shutting a loop down cancels its requests, and the next request starts the loop again`() async throws {
        let asked = Note<Void>()
        let server = try RawServer { [log] connection in
            let number = log.connected()
            _ = try connection.readRequest()
            asked.send(())
            if number > 6 { try connection.send(okay("again")) }
            try connection.readToEnd()
        }
        let loop = NetworkLoop(timeouts: .long)
        let session = NetworkHTTPSession(proxy: .none, loop: loop)
        let ends = Note<URLError.Code?>()
        for _ in 1...9 {
            session.dataTask(with: try HTTPRig.request(port: server.port)) { _, _, error in
                ends.send((error as? URLError)?.code)
            }.resume()
        }
        for _ in 1...6 { await asked.next() }
        await loop.shutdown()
        for _ in 1...9 { #expect(await ends.next() == .some(.cancelled)) }
        #expect(log.connections == 6)
        #expect(try await HTTPRig(session).reply(HTTPRig.request(port: server.port)) == "200 again")
        await loop.shutdown()
    }
}
#endif
