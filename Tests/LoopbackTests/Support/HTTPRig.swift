#if os(Linux)
import Foundation
import FoundationNetworking
@testable import PusherChannels
import TestSupport

/// The error for something that a test didn't expect.
struct Unexpected: Error {
    let what: String
    init(_ what: String) { self.what = what }
}

/// A session, and helpers that make requests with it.
struct HTTPRig: Sendable {
    let session: any HTTPSession

    init(_ session: any HTTPSession = NetworkHTTPSession(proxy: .none, loop: .patient)) {
        self.session = session
    }

    static func request(
        _ address: String, method: String = "GET", body: String? = nil, timeout: TimeInterval = 86_400
    ) throws -> URLRequest {
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        var request = URLRequest(url: url, timeoutInterval: timeout)
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        return request
    }

    static func request(
        port: Int, _ path: String = "/", method: String = "GET", body: String? = nil, timeout: TimeInterval = 86_400
    ) throws -> URLRequest {
        try request("http://127.0.0.1:\(port)\(path)", method: method, body: body, timeout: timeout)
    }

    /// Makes a request, and returns the status and the body.
    func reply(_ request: URLRequest) async throws -> String {
        let (body, response) = try await session.response(to: request)
        return "\(response.statusCode) \(String(decoding: body, as: UTF8.self))"
    }

    /// Makes a request that must fail, and returns its failure.
    func failure(_ request: URLRequest) async throws -> HTTPFailure {
        do {
            let reply = try await reply(request)
            throw Unexpected("it succeeded: \(reply)")
        } catch let error as URLError {
            guard let failure = TransportError(error), error.localizedDescription == failure.message else {
                throw Unexpected("no failure in \(error)")
            }
            return HTTPFailure(error.code, failure)
        }
    }
}

/// The connections and requests of a server that keeps its connections open.
final class HTTPLog: Sendable {
    private let state = Locked((connections: 0, requests: [] as [String]))

    var connections: Int { state.withLock { $0.connections } }
    /// The paths, each followed by the number of its connection.
    var requests: [String] { state.withLock { $0.requests } }

    func connected() -> Int {
        state.withLock { state in
            state.connections += 1
            return state.connections
        }
    }

    func requested(_ head: String, on connection: Int) {
        let path = head.split(separator: " ").dropFirst().first ?? ""
        state.withLock { $0.requests.append("\(path) #\(connection)") }
    }
}

extension RawServer {
    /// Creates a server that responds to each request on each connection with the result of `reply`: nil hangs up, or resets the
    /// connection. The numbers of connections and requests begin with 1.
    convenience init(
        log: HTTPLog, resets: Bool = false, reply: @escaping @Sendable (_ connection: Int, _ request: Int) throws -> String?
    ) throws {
        try self.init { connection in
            let number = log.connected()
            if resets { connection.resetOnClose() }
            for request in 1... {
                let head = try connection.readRequest()
                _ = try connection.readBody(of: head)
                log.requested(head, on: number)
                guard let reply = try reply(number, request) else { return }
                try connection.send(reply)
            }
        }
    }
}

/// Returns a response with a length.
func okay(_ body: String = "ok", _ fields: String = "") -> String {
    "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)"
}
#endif
