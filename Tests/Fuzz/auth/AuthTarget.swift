import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Checks an authorization endpoint's response: as bytes of a connection that go through the HTTP reader, and as a body that goes
/// to the requester.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    var input = FuzzInput(data, size)
    let asked = AuthorizationSubject(input.choice())
    let status = AuthorizationSubject.statuses[input.choice() % AuthorizationSubject.statuses.count]
    let sizes = input.choices()
    let bytes = input.rest

    let whole = ResponseRun.outcome(of: [bytes])
    for sizes in [sizes, [1]] {
        let cut = ResponseRun.outcome(of: pieces(of: bytes, sizes: sizes))
        require(cut == whole, "cut into \(sizes) it is \(cut), not \(whole)")
    }
    if case .response(let response, _) = whole { ResponseCheck(response).check(asked) }

    // The bytes as a body, in every framing that a body may have.
    let response = HTTPResponse(status: status, fields: [], body: Array(bytes), reuse: nil)
    ResponseRun.checkFramings(of: response, sizes: sizes)
    ResponseCheck(response).check(asked)
    return 0
}

/// The channel or the user that the endpoint is asked to authorize.
enum AuthorizationSubject: Equatable {
    case channel(String)
    case user

    static let statuses = [
        200, 200, 200, 201, 299, 100, 199, 204, 300, 302, 400, 401, 403, 404, 408, 425, 429, 500, 503, 599, 999,
    ]

    init(_ choice: Int) {
        let channels = ["private-room", "presence-room", "private-encrypted-room"]
        self = choice & 3 == 3 ? .user : .channel(channels[choice & 3])
    }

    /// Returns the authorization in a body, in the order auth, data, secret, or nil if there is none.
    func authorization(in body: String) -> [String?]? {
        guard let json = JSONValue(ifJSON: body), let auth = json["auth"]?.stringValue else { return nil }
        switch self {
        case .user:
            guard let userData = json["user_data"]?.stringValue else { return nil }
            return [auth, userData, nil]
        case .channel(let channel):
            for name in ["channel_data", "shared_secret"] where json[name].map({ $0 != .null && $0.stringValue == nil }) == true {
                return nil
            }
            let secret = json["shared_secret"]?.stringValue
            if channel.hasPrefix("private-encrypted-"), secret.map({ SharedSecret(base64: $0).bytes?.count }) != 32 { return nil }
            return [auth, json["channel_data"]?.stringValue, secret]
        }
    }
}

/// A session that gives every request the same response at once.
struct FixedSession: HTTPSession {
    let data: Data
    let response: HTTPURLResponse?

    func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> FixedTask {
        FixedTask { [data, response] in completionHandler(data, response, nil) }
    }
}

struct FixedTask: HTTPTask {
    let httpResponse: @Sendable () -> Void

    func resume() { httpResponse() }
    func cancel() {}
}

/// A stand-in for the default transport, because there is no network here.
public enum DefaultTransport {
    /// A session that responds with nothing.
    public static let httpSession: any HTTPSession = FixedSession(data: Data(), response: nil)

    /// Must not be called.
    @Sendable public static func makeWebSocket() -> any WebSocket { fatalError("nobody connects") }
}
