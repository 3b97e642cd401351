import Foundation
import PusherChannels

/// A test double's reply to a ``RecordedRequest``: a response or a ``Fault``, at once or later.
public struct StubResponse: Sendable {
    /// The status code.
    public var status: Int
    /// The header fields, beside those that every response has.
    public var headers: [String: String]
    /// The body.
    public var body: Data
    /// The fault of the reply; where it is set and leaves no room for a response, none comes.
    public var fault: Fault?
    /// The time the answer takes, by the replying side's clock.
    public var delay: Duration = .zero
    /// The gate that must open before the reply comes.
    public var gate: Gate?

    /// The tag that says which version of a resource this is.
    var entityTag: String?
    /// The values that the completion handler is given, to the letter, where a test says so.
    var outcome: MockTask.Outcome?

    /// Creates a response.
    public init(status: Int = 200, headers: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Creates a response of text, `text/plain` unless `contentType` says otherwise.
    public init(status: Int = 200, text: String, contentType: String = "text/plain; charset=utf-8") {
        self.init(status: status, headers: ["Content-Type": contentType], body: Data(text.utf8))
    }

    /// Creates a response from bytes, in the order that URL protocol stubs have it.
    public init(data: Data, statusCode: Int, headers: [String: String] = [:]) {
        self.init(status: statusCode, headers: headers, body: data)
    }

    /// The body as text; bytes that aren't UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    // MARK: Common ones

    /// 200 without a body.
    public static let ok = StubResponse()

    /// A status without a body.
    public static func http(_ status: Int) -> StubResponse {
        StubResponse(status: status)
    }

    /// A value as JSON, the keys in order.
    ///
    /// A value that can't be encoded, such as a number that is none, becomes a 500 that says so.
    public static func json(_ value: some Encodable, status: Int = 200) -> StubResponse {
        do {
            return StubResponse(status: status, headers: ["Content-Type": "application/json"], body: try encode(value))
        } catch {
            return StubResponse(status: 500, text: "the stub's value is no JSON: \(error)")
        }
    }

    /// 200 with bytes.
    public static func data(_ data: Data, contentType: String = "application/octet-stream") -> StubResponse {
        StubResponse(headers: ["Content-Type": contentType], body: data)
    }

    /// 302 to another address. Whether it is followed is the client's affair.
    public static func redirect(to url: String, status: Int = 302) -> StubResponse {
        StubResponse(status: status, headers: ["Location": url])
    }

    /// 200 with a file's contents.
    ///
    /// - Throws: what `Data(contentsOf:)` throws.
    public static func file(at path: String, contentType: String = "application/json") throws -> StubResponse {
        .data(try Data(contentsOf: URL(fileURLWithPath: path)), contentType: contentType)
    }

    /// No response, but what goes wrong instead.
    public static func fault(_ fault: Fault) -> StubResponse {
        var response = StubResponse()
        response.fault = fault
        return response
    }

    /// No response, but the error that `URLSession` reports.
    public static func failure(_ code: URLError.Code) -> StubResponse {
        .fault(.error(code))
    }

    // MARK: Conditional ones

    /// Returns this response with an `ETag`: a request that has it already, as its `If-None-Match` says, gets 304 without a body instead.
    ///
    /// - Parameter tag: The version of the resource, without the quotes.
    public func tagged(_ tag: String) -> StubResponse {
        var response = self
        response.entityTag = tag
        response.headers["ETag"] = "\"\(tag)\""
        return response
    }

    /// The response to a request that may have it already (RFC 9110, 13.1.2).
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

    // MARK: Later

    /// Returns this response, so much later by the replying side's clock.
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
