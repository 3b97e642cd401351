import Foundation

/// One request to the HTTP API, before it is signed.
struct HTTPAPICall: Sendable {
    enum Method: String {
        case get = "GET"
        case post = "POST"
    }

    /// The effect of carrying it out a second time.
    enum Repetition {
        /// Nothing more.
        case harmless
        /// All of it again, such as a publish.
        case again
    }

    let method: Method
    /// The part of the path behind `/apps/{id}`, percent-encoded.
    let path: String
    let parameters: [String: String]
    let body: Data
    let repetition: Repetition

    static func get(_ path: String, _ parameters: [String: String?] = [:]) -> HTTPAPICall {
        HTTPAPICall(
            method: .get, path: path, parameters: parameters.compactMapValues { $0 }, body: Data(), repetition: .harmless)
    }

    static func post(_ path: String, _ body: String, repetition: Repetition) -> HTTPAPICall {
        HTTPAPICall(method: .post, path: path, parameters: [:], body: Data(body.utf8), repetition: repetition)
    }

    /// A path of segments that a user chose. They stay what they are: official libraries sign and send names of channels as they
    /// are, and whatever those can't hold is escaped.
    static func path(_ segments: [String]) throws(PusherError) -> String {
        for segment in segments where segment.isEmpty || segment.hasBytes(of: ".") || segment.hasBytes(of: "..") {
            throw PusherError(.invalidRequest, message: "\"\(segment)\" can't be a part of a path")
        }
        return segments.map { "/\($0.percentEncoded(allowing: "=@,;"))" }.joined()
    }
}
