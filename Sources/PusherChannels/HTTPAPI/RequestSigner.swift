import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Makes the requests of an app, signed with its secret and a time, because a signature is valid for only ten minutes.
struct RequestSigner: Sendable {
    let appID: String
    let key: String
    let secret: Secret<String>
    let timeout: Duration
    /// The scheme, host, port and path prefix; or the error if they can't be used.
    private let origin: Result<String, PusherError>

    init(
        appID: String, key: String, secret: String, host: PusherHost, port: Int?, useTLS: Bool, path: String?, timeout: Duration
    ) {
        self.appID = appID
        self.key = key
        self.secret = Secret(secret)
        self.timeout = timeout
        origin = Result { () throws(PusherError) in try Self.origin(host: host.apiHost, port: port, useTLS: useTLS, path: path) }
    }

    private static func origin(host: String, port: Int?, useTLS: Bool, path: String?) throws(PusherError) -> String {
        // Foundation ends the process if the port is invalid.
        if let port, !(1...65535).contains(port) { throw PusherError(.invalidRequest, message: "\(port) is not a TCP port") }
        var components = URLComponents()
        components.scheme = useTLS ? "https" : "http"
        components.host = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        components.port = port
        guard HTTPSyntax.isHost(host), let origin = components.string else {
            throw PusherError(.invalidRequest, message: HTTPSyntax.noHost(host))
        }
        let prefix = (path ?? "").split(separator: "/").map { "/\(String($0).percentEncoded())" }.joined()
        return origin + prefix
    }

    func request(for call: HTTPAPICall, at date: Date) throws(PusherError) -> URLRequest {
        try checkCredentials(key: key, secret: secret)
        guard !appID.isEmpty else { throw PusherError(.invalidRequest, message: "the app's id is empty") }
        guard let time = Int(exactly: date.timeIntervalSince1970.rounded(.down)) else {
            throw PusherError(.invalidRequest, message: "the wall clock shows no time that can be told in seconds")
        }
        let path = "/apps/\(appID.percentEncoded())\(call.path)"
        let address = "\(try origin.get())\(path)?\(query(of: call, path: path, time: time))"
        guard let url = URL(string: address) else {
            throw PusherError(.invalidRequest, message: "the host or the app id makes no address: \(path)")
        }
        var request = URLRequest(url: url, timeoutInterval: max(min(timeout / .seconds(1), 86_400), 0.001))
        request.httpMethod = call.method.rawValue
        if !call.body.isEmpty {
            request.httpBody = call.body
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        request.setValue("swift-pusher-channels \(libraryVersion)", forHTTPHeaderField: "X-Pusher-Library")
        return request
    }

    /// Returns the parameters in the order in which they are signed, and the signature.
    private func query(of call: HTTPAPICall, path: String, time: Int) -> String {
        var parameters = call.parameters
        parameters["auth_key"] = key
        parameters["auth_timestamp"] = String(time)
        parameters["auth_version"] = "1.0"
        if !call.body.isEmpty { parameters["body_md5"] = md5(call.body) }
        let signature = Signature.request(
            method: call.method.rawValue, path: path, query: parameters, secret: secret.value)
        let pairs = parameters.sorted { $0.key < $1.key } + [("auth_signature", signature)]
        return pairs.map { "\($0.key.percentEncoded())=\($0.value.percentEncoded())" }.joined(separator: "&")
    }
}
