import Foundation

/// One request to the HTTP API, before it is signed.
struct HTTPAPICall: Sendable {
    enum Method: String {
        case get = "GET"
        case post = "POST"
        case delete = "DELETE"
    }

    /// The effect of carrying out a call a second time.
    enum Repetition {
        /// A second time has no further effect.
        case harmless
        /// Everything happens again, as with a publish.
        case again
        /// Everything happens again, unless the server knows the publish by its key.
        case againUnlessKnown
    }

    let method: Method
    /// The part of the path after `/apps/{id}`, percent-encoded.
    let path: String
    let parameters: [String: String]
    let body: Data
    let repetition: Repetition
    /// The member that the response to this call may have, and a refusal doesn't; nil if a server's addition may answer with
    /// anything.
    let member: Name?

    static func get(
        _ path: String, _ parameters: [String: String?] = [:], method: Method = .get, member: Name?
    ) -> HTTPAPICall {
        HTTPAPICall(
            method: method, path: path, parameters: parameters.compactMapValues { $0 }, body: Data(), repetition: .harmless,
            member: member)
    }

    static func post(_ path: String, _ body: String, repetition: Repetition, member: Name?) -> HTTPAPICall {
        HTTPAPICall(
            method: .post, path: path, parameters: [:], body: Data(body.utf8), repetition: repetition, member: member)
    }

    /// Indicates whether carrying it out a second time may do harm.
    var isRisky: Bool { repetition != .harmless }

    /// Returns a path of segments that a user chose. Characters of channel names stay as they are, because official libraries
    /// sign and send them that way; all others are escaped.
    static func path(_ segments: [String]) throws(PusherError) -> String {
        for segment in segments where segment.isEmpty || segment.hasBytes(of: ".") || segment.hasBytes(of: "..") {
            throw PusherError(.invalidRequest, message: "\"\(segment)\" can't be a part of a path")
        }
        return segments.map { "/\($0.percentEncoded(allowing: "=@,;"))" }.joined()
    }
}
