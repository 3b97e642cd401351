import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Publishes events through the Channels HTTP API, as an application's server does.
///
/// Requests are signed with the app's secret; the description shows none of it. May be used from any thread.
public struct PusherHTTPAPI: Sendable, CustomStringConvertible {
    private let appID: String
    private let key: String
    private let secret: Secret<String>
    private let origin: URLComponents
    private let portProblem: String?
    private let environment: PusherEnvironment

    /// Creates the API of one app; `port` nil means the scheme's own. With one outside 1 to 65535 every request throws.
    ///
    /// Where TLS or a proxy need settings, give the environment a session that has them (``PusherEnvironment/httpSession``).
    public init(
        appID: String, key: String, secret: String, host: PusherHost = .defaultHost, port: Int? = nil, useTLS: Bool = true,
        environment: PusherEnvironment = .live
    ) {
        self.appID = appID
        self.key = key
        self.secret = Secret(secret)
        self.environment = environment
        var origin = URLComponents()
        origin.scheme = useTLS ? "https" : "http"
        origin.host = host.apiHost
        // Foundation ends the process for what is no port: requests say so instead.
        portProblem = port.flatMap { (1...65535).contains($0) ? nil : "\($0) is not a TCP port" }
        if portProblem == nil { origin.port = port }
        self.origin = origin
    }

    private struct Event: Encodable {
        let name: String
        let channels: [String]
        let data: String
        let socket_id: String?
    }

    /// Publishes an event to the subscribers of channels, all but the connection with `socketID` if one is given.
    ///
    /// Throws a ``PusherError`` of kind `httpAPI`; its code is the HTTP status where the server answered at all.
    public func trigger(
        channels: [String], eventName: String, data: String, excluding socketID: String? = nil
    ) async throws(PusherError) {
        let body: Data
        do {
            let event = Event(name: eventName, channels: channels, data: data, socket_id: socketID)
            body = try environment.jsonEncoder().encode(event)
        } catch {
            throw PusherError(.httpAPI, message: "the event can't be encoded: \(text(of: error))")
        }
        try await send(try request("POST", path: "/apps/\(appID)/events", body: body))
    }

    private func send(_ request: URLRequest) async throws(PusherError) {
        let reply: (body: Data, response: HTTPURLResponse)
        do {
            reply = try await environment.httpSession.response(to: request)
        } catch {
            throw PusherError(.httpAPI, message: "the HTTP API could not be asked: \(error.localizedDescription)")
        }
        let status = reply.response.statusCode
        guard (200..<300).contains(status) else {
            let reason = String(decoding: reply.body.prefix(200), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            throw PusherError(.httpAPI, code: status, message: "the HTTP API answered with status \(status): \(reason)")
        }
    }

    private func request(_ method: String, path: String, body: Data) throws(PusherError) -> URLRequest {
        if let portProblem { throw PusherError(.httpAPI, message: portProblem) }
        guard let time = Int(exactly: environment.wallClock().timeIntervalSince1970.rounded(.down)) else {
            throw PusherError(.httpAPI, message: "the wall clock shows no time that can be told in seconds")
        }
        var query = [
            "auth_key": key,
            "auth_timestamp": String(time),
            "auth_version": "1.0",
            "body_md5": md5(body),
        ]
        query["auth_signature"] = Signature.request(method: method, path: path, query: query, secret: secret.value)
        var components = origin
        components.path = path
        components.queryItems = query.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) }
        guard let url = components.url else {
            throw PusherError(.httpAPI, message: "the host or the app id makes no address: \(path)")
        }
        var request = URLRequest(url: url, timeoutInterval: 15)
        request.httpMethod = method
        request.httpBody = body
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue("swift-pusher-channels \(libraryVersion)", forHTTPHeaderField: "X-Pusher-Library")
        return request
    }

    /// The app's id and key, not its secret.
    public var description: String { "PusherHTTPAPI(app \(appID), key \(key))" }
}
