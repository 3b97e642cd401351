import Foundation

/// The body of a response to a successful call.
struct HTTPAPIResponse: Sendable {
    let body: Data
    private let json: JSONValue?
    private let call: HTTPAPICall

    init(_ body: Data, to call: HTTPAPICall) {
        self.body = body
        self.call = call
        json = try? JSONValue(parsing: String(decodingWithoutMark: body))
    }

    /// Creates the response of Reverb about the users of a presence channel that nobody is on, which is an empty object with status
    /// 404; nil for any other, as those of a wrong app or path are texts.
    init?(ofNobody body: Data, status: Int, to call: HTTPAPICall) {
        guard status == 404, call.member == "users", HTTPAPIResponse(body, to: call).json == [:] else { return nil }
        self.init(Data(#"{"users":[]}"#.utf8), to: call)
    }

    /// The server's refusal, if the body is one although the status says success.
    var refusal: RefusalInBody? { json.flatMap { RefusalInBody($0, insteadOf: call.member) } }

    /// The JSON object that a server sends in response to the call. Anything else may come from a proxy, or a login's page.
    var object: JSONValue {
        get throws(PusherError) {
            switch json {
            case let json? where json.objectValue != nil: json
            case .array(let elements)? where elements.isEmpty: [:]  // PHP's way to write an empty object.
            default: throw unreadable("it isn't a JSON object")
            }
        }
    }

    /// Returns the error for a response to something other than the call.
    func unreadable(_ problem: String) -> PusherError {
        let warning = call.isRisky ? "; it may have been carried out" : ""
        return PusherError(
            .httpAPI(.unreadableResponse), message: "the HTTP API's response can't be read: \(problem)\(warning)")
    }
}
