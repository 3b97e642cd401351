import Foundation
import PusherChannels

/// A test double's reply to a ``RecordedRequest``: a response or a ``Fault``, at once or later.
public struct StubResponse: Sendable {
    /// The status code.
    public var status: Int
    /// The header fields, in addition to those that every response has.
    public var headers: [String: String]
    /// The body.
    public var body: Data
    /// The fault of the reply; if it leaves no room for a response, none is sent.
    public var fault: Fault?
    /// The time the reply takes, by the replying side's clock.
    public var delay: Duration = .zero
    /// The gate that must open before the reply comes.
    public var gate: Gate?

    /// The tag that identifies the version of the resource.
    var entityTag: String?
    /// The exact values to pass to the completion handler, if the test specifies them.
    var outcome: MockTask.Outcome?

    /// Creates a response.
    public init(status: Int = 200, headers: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Creates a text response, `text/plain` unless `contentType` says otherwise.
    public init(status: Int = 200, text: String, contentType: String = "text/plain; charset=utf-8") {
        self.init(status: status, headers: ["Content-Type": contentType], body: Data(text.utf8))
    }

    /// Creates a response from data, with the parameters in the order of URL protocol stubs.
    public init(data: Data, statusCode: Int, headers: [String: String] = [:]) {
        self.init(status: statusCode, headers: headers, body: data)
    }

    /// The body as text; bytes that aren't UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The first line of an error's text, without secrets; `nil` for a response that is no error.
    var reason: String? {
        guard status >= 400, let line = body.split(separator: UInt8(ascii: "\n"), maxSplits: 1).first else { return nil }
        // Only its beginning is shown, so only there are secrets looked for.
        return Redaction.standard.redact(String(decoding: line.prefix(1000), as: UTF8.self)).inLogLine()
    }

    // MARK: Common responses

    /// A 200 response without a body.
    public static let ok = StubResponse()

    /// Returns a response with a status and no body.
    public static func http(_ status: Int) -> StubResponse {
        StubResponse(status: status)
    }

    /// Returns a response with a value as JSON, with sorted keys.
    ///
    /// If the value can't be encoded, as with a NaN, the response is a 500 that says so.
    public static func json(_ value: some Encodable, status: Int = 200) -> StubResponse {
        do {
            return StubResponse(status: status, headers: ["Content-Type": "application/json"], body: try encode(value))
        } catch {
            return StubResponse(status: 500, text: "the stub's value is no JSON: \(error)")
        }
    }

    /// Returns a 200 response with data.
    public static func data(_ data: Data, contentType: String = "application/octet-stream") -> StubResponse {
        StubResponse(headers: ["Content-Type": contentType], body: data)
    }

    /// Returns a redirect to another URL, 302 by default. The client decides whether to follow it.
    public static func redirect(to url: String, status: Int = 302) -> StubResponse {
        StubResponse(status: status, headers: ["Location": url])
    }

    /// Returns a 200 response with a file's contents.
    ///
    /// - Throws: Any error from `Data(contentsOf:)`.
    public static func file(at path: String, contentType: String = "application/json") throws -> StubResponse {
        .data(try Data(contentsOf: URL(fileURLWithPath: path)), contentType: contentType)
    }

    /// Returns an empty 200 response with a fault: it fails, is late, or never comes.
    public static func fault(_ fault: Fault) -> StubResponse {
        var response = StubResponse()
        response.fault = fault
        return response
    }

    /// Returns a reply with an error from `URLSession` instead of a response.
    public static func failure(_ code: URLError.Code) -> StubResponse {
        .fault(.error(code))
    }

    // MARK: Conditional responses

    /// Returns this response with an `ETag`. A request that already has this version, according to its `If-None-Match`, gets a
    /// 304 without a body instead.
    ///
    /// - Parameter tag: The version of the resource, without the quotes.
    public func tagged(_ tag: String) -> StubResponse {
        var response = self
        response.entityTag = tag
        response.headers["ETag"] = "\"\(tag)\""
        return response
    }

    /// Returns the response to a request that may already have this version (RFC 9110, 13.1.2).
    func conditional(on request: RecordedRequest) -> StubResponse {
        guard let entityTag, status == 200, ["GET", "HEAD"].contains(request.method),
            let known = request.header("If-None-Match")
        else { return self }
        let tags = known.split(separator: ",").map { tag in
            let tag = tag.drop { $0 == " " }
            return (tag.hasPrefix("W/") ? tag.dropFirst(2) : tag).filter { $0 != "\"" && $0 != " " }
        }
        guard tags.contains(entityTag) || tags == ["*"] else { return self }
        var response = self
        response.status = 304
        response.body = Data()
        response.headers["Content-Type"] = nil
        return response
    }

    // MARK: Delays

    /// Returns this response with a delay, by the replying side's clock.
    public func delayed(by delay: Duration) -> StubResponse {
        var response = self
        response.delay = delay
        return response
    }

    /// Returns this response, held until the gate opens.
    public func held(by gate: Gate) -> StubResponse {
        var response = self
        response.gate = gate
        return response
    }

    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }

    static func json(_ value: JSONValue) -> StubResponse {
        StubResponse(text: value.text, contentType: "application/json")
    }
}
