#if os(Linux)
import Dispatch
import Foundation
import FoundationNetworking
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// Requests and their responses, and every way in which a request can fail.
@Suite(.watchdog) struct NetworkHTTPSessionTests {
    private let rig = HTTPRig()

    // MARK: Responses

    @Test(arguments: [true, false])
    func `A response body without a length is complete only if TLS ends with close_notify`(isCut: Bool) async throws {
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
        let server = try RawServer.replying(.text(head + "pay 100" + (isCut ? "0" : "")), then: .finish)
        let faults: [Fault] = isCut ? [.halfClose(after: .bytes((head + "pay 100").utf8.count))] : []
        let proxy = try NetworkFaultProxy.start(to: "127.0.0.1", port: server.port, faults: faults, tls: .throwaway)
        let tls = TLSConfiguration(verification: .insecureAcceptAnyCertificate)
        let rig = HTTPRig(NetworkHTTPSession(tls: tls, proxy: .none, loop: .patient))
        let request = try HTTPRig.request("https://127.0.0.1:\(proxy.port)/")
        if isCut {
            let failure = try await rig.failure(request)
            #expect(failure.code == .networkConnectionLost)
            #expect(failure.failure.message.hasSuffix("hung up in the middle of its answer"))
        } else {
            #expect(try await rig.reply(request) == "200 pay 100")
        }
        proxy.stop()
    }

    @Test func `A request arrives as given, and the response is returned with status, headers and body`() async throws {
        let heard = Note<String>()
        let server = try RawServer { connection in
            let head = try connection.readRequest()
            heard.send(head + String(decoding: try connection.readBody(of: head), as: UTF8.self))
            try connection.send("HTTP/1.1 201 Made\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 6\r\n\r\nanswer")
            try connection.readToEnd()
        }
        var request = try HTTPRig.request(port: server.port, "/auth?a=b", method: "POST", body: "socket_id=1.2")
        request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
        let (body, response) = try await rig.session.response(to: request)
        #expect(String(decoding: body, as: UTF8.self) == "answer")
        #expect(response.statusCode == 201)
        #expect(response.value(forHTTPHeaderField: "x-A") == "1, 2")
        #expect(response.url == request.url)
        let text = try #require(await heard.next())
        #expect(text.hasPrefix("POST /auth?a=b HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"))
        #expect(text.contains("\r\nAuthorization: Bearer token\r\n"))
        #expect(text.hasSuffix("\r\n\r\nsocket_id=1.2"))
    }

    @Test(arguments: [
        ("GET", "HTTP/1.1 200 OK\r\n\r\nto the end", "200 to the end"),
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", "200 "),
        ("POST", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 Nothing\r\n\r\n", "204 "),
        // These responses are like any other: no credentials are requested, no redirect is followed.
        ("GET", "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 2\r\n\r\nno", "401 no"),
        ("POST", "HTTP/1.1 307 Else\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 4\r\n\r\nelse", "307 else"),
        ("GET", "HTTP/1.1 407 Proxy\r\nContent-Length: 0\r\n\r\n", "407 "),
    ])
    func `A response of any framing and status is returned, and no redirect is followed`(
        method: String, sent: String, reply: String
    ) async throws {
        let server = try RawServer.replying(.text(sent), then: .finish)
        #expect(try await rig.reply(HTTPRig.request(port: server.port, method: method)) == reply)
    }

    // MARK: No response

    private static let begun = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"
    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test(arguments: [
        ("", false, URLError.Code.networkConnectionLost, "hung up before it answered"),
        ("HTTP/1.1 200 OK\r\nContent-Le", false, .networkConnectionLost, "in the middle of its answer"),
        (begun, false, .networkConnectionLost, "in the middle of its answer"),
        ("\(chunked)5\r\nhello\r\n", false, .networkConnectionLost, "in the middle of its answer"),
        ("SSH-2.0-OpenSSH_9.2p1\r\n", false, .badServerResponse, "HTTP"),
        ("\(chunked)nope\r\n", false, .badServerResponse, "chunks"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", false, .dataLengthExceedsMaximum, "more than 16777216 bytes"),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", false, .badServerResponse, "another protocol"),
        ("", true, .networkConnectionLost, "reset by peer"), (begun, true, .networkConnectionLost, "reset by peer"),
        ("HTTP/1.1 200 OK\r\n\r\nhell", true, .networkConnectionLost, "reset by peer"),
    ])
    func `A request whose response is cut short, reset, malformed or too large fails, and isn't repeated`(
        sent: String, isReset: Bool, code: URLError.Code, text: String
    ) async throws {
        let server = try RawServer.replying(.text(sent), then: isReset ? .reset : .finish)
        let failure = try await rig.failure(HTTPRig.request(port: server.port))
        #expect(failure.code == code)
        #expect(failure.failure.message.contains(text))
        #expect(failure.failure.message.contains("127.0.0.1:\(server.port)"))
        #expect(server.requests.all.count == 1)
    }

    // MARK: Deadlines

    @Test(arguments: [
        ("", "didn't answer the request"), (begun, "didn't finish its answer"),
    ])
    func `A request whose response doesn't come or end in time fails, and its connection is closed`(sent: String, text: String)
        async throws
    {
        let server = try RawServer.replying(.text(sent))
        // A busy machine may take longer to get to that stage.
        var message = ""
        for timeout in [0.25, 1, 4, 12] where !message.contains(text) {
            let start = ContinuousClock().now
            let failure = try await rig.failure(HTTPRig.request(port: server.port, timeout: timeout))
            #expect(start.duration(to: ContinuousClock().now) >= .seconds(timeout))
            #expect(failure.code == .timedOut)
            message = failure.failure.message
            #expect(message.hasSuffix(timeout < 1 ? "within 0.25 s" : "within \(Int(timeout)) s"))
        }
        #expect(message.hasPrefix("127.0.0.1:\(server.port) \(text) within"))
        await serviceTurn()
        await serviceTurn()
        #expect(ProcessTables.connections(toPort: server.port) == 0)
    }

    @Test func `A request times out if its response arrives steadily but doesn't end in time`() async throws {
        let server = try RawServer { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n")
            while true { try connection.send("x") }
        }
        #expect(try await rig.failure(HTTPRig.request(port: server.port, timeout: 0.25)).code == .timedOut)
    }

    /// Reading its body may take long, as for an authorization endpoint's response.
    @Test func `A blocked handler of a large response holds up no other request of the loop`() async throws {
        let server = try RawServer { connection in
            let size = try connection.readRequest().contains("GET /large ") ? NetworkHTTPSession.largeSize + 1 : 1
            try connection.send(okay(String(repeating: "x", count: size)))
        }
        let rig = HTTPRig(NetworkHTTPSession(proxy: .none, loop: NetworkLoop(timeouts: .long)))
        let (begun, ended, gate) = (Note<Void>(), Note<Int>(), DispatchSemaphore(value: 0))
        let large = rig.session.dataTask(with: try HTTPRig.request(port: server.port, "/large")) { body, _, _ in
            begun.send(())
            gate.wait()
            ended.send(body?.count ?? 0)
        }
        large.resume()
        await begun.next()
        #expect(try await rig.reply(HTTPRig.request(port: server.port, "/small")) == "200 x")
        gate.signal()
        #expect(await ended.next() == NetworkHTTPSession.largeSize + 1)
    }

    @Test func `A request times out if its host's address isn't found in time`() async throws {
        let rig = HTTPRig(NetworkHTTPSession(proxy: .none, loop: .patient, resolve: { _, _ in {} }))
        let failure = try await rig.failure(HTTPRig.request("http://slow.example/", timeout: 0.1))
        #expect(failure.code == .timedOut)
        #expect(failure.failure.message == "slow.example:80 was not reached within 0.1 s")
    }

    // MARK: TLS

    /// With TLS 1.3, the server refuses only after the handshake, when the request is already on its way.
    @Test func `A request without the client certificate that a server wants says so in its error code`() async throws {
        let authority = try CertificateAuthority()
        let server = try RawServer(tls: ServerTLS(clientCertificates: .required(by: authority), versions: .tls13 ... .tls13)) {
            try $0.readToEnd()
        }
        let tls = TLSConfiguration(verification: .insecureAcceptAnyCertificate)
        let rig = HTTPRig(NetworkHTTPSession(tls: tls, proxy: .none, loop: .patient))
        let failure = try await rig.failure(HTTPRig.request("https://127.0.0.1:\(server.port)/"))
        #expect(failure.code == .clientCertificateRequired)
    }

    // MARK: Secrets

    @Test func `A failed request's error contains no secret of the URL, header, body or proxy`() async throws {
        let (port, descriptor) = try RawServer.refusingPort()
        defer { close(descriptor) }
        let proxy = HTTPProxy(host: "127.0.0.1", port: port, credentials: .init(user: "ann", password: "secret1"))
        for scheme in ["http", "https"] {
            var request = try HTTPRig.request("\(scheme)://bob:secret2@example.com/?token=secret3", body: "secret4")
            request.setValue("secret5", forHTTPHeaderField: "Authorization")
            do {
                _ = try await NetworkHTTPSession(proxy: .http(proxy), loop: .patient).response(to: request)
                throw Unexpected("it succeeded")
            } catch let error as URLError {
                #expect(error.localizedDescription.contains("Proxy 127.0.0.1:\(port)"))
                var dumped = "\(error) \(error.localizedDescription) \(error.userInfo)"
                dump(error, to: &dumped)
                #expect(!dumped.contains("secret"))
            }
        }
    }
}
#endif
