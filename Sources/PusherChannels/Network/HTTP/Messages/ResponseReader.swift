/// A whole HTTP response.
struct HTTPResponse: Sendable {
    let status: Int
    /// The head's fields as they came; the trailers of a chunked body are left out.
    let fields: [(name: String, value: String)]
    let body: [UInt8]
    /// The time for which the connection may be used for another request; `nil` if it may not.
    let reuse: Duration?
}

/// Reads the response to one request (RFC 9112, 6) from its bytes.
struct ResponseReader {
    /// The largest size of a body in bytes.
    static let bodyLimit = 16 << 20
    /// The time for which a connection stays good if the server doesn't say.
    static let idleTime = Duration.seconds(30)

    /// The reason why a response can't be accepted.
    enum Problem: Error, Equatable, Sendable {
        case head(ResponseHeadParser.Problem)
        /// It switches protocols, which nobody requested.
        case upgrade
        /// `Content-Length` isn't a length, or there are several that differ.
        case length
        /// `Transfer-Encoding` isn't chunked, comes with a length or in HTTP/1.0: the body has no certain end.
        case encoding
        /// The chunks of the body can't be read.
        case chunks
        /// The body has more bytes than the limit.
        case tooLong(limit: Int)
        /// The connection ended after this many bytes of the body, before its end.
        case cutShort(after: Int)
    }

    private enum Phase {
        case head
        case counted(ResponseHead, left: Int)
        case chunked(ResponseHead, ChunkedReader)
        case untilEnd(ResponseHead)
    }

    private let method: String
    private let limit: Int
    private var phase = Phase.head
    private var headParser = ResponseHeadParser()
    private var body: [UInt8] = []
    /// Indicates whether any part of a response has come.
    private(set) var hasBegun = false

    init(method: String, limit: Int = Self.bodyLimit) {
        self.method = method
        self.limit = limit
    }

    /// Continues to read, but not beyond the response; returns `nil` if some of it is still to come.
    mutating func read(_ cursor: inout ByteCursor) throws(Problem) -> HTTPResponse? {
        if cursor.remaining > 0 { hasBegun = true }
        if case .head = phase {
            guard let head = try readHead(&cursor) else { return nil }
            phase = try bodyPhase(head)
        }
        switch phase {
        case .head: return nil
        case .counted(let head, let left):
            let bytes = cursor.take(upTo: left)
            body += bytes
            phase = .counted(head, left: left - bytes.count)
            return left == bytes.count ? response(head, reuse: head.lifetime) : nil
        case .chunked(let head, var chunks):
            let isWhole = try read(&cursor, &chunks)
            phase = .chunked(head, chunks)
            return isWhole ? response(head, reuse: head.lifetime) : nil
        case .untilEnd:
            let bytes = cursor.take(upTo: cursor.remaining)
            guard bytes.count <= limit - body.count else { throw .tooLong(limit: limit) }
            body += bytes
            return nil
        }
    }

    /// Returns the response that the orderly end of the connection completes.
    func end() throws(Problem) -> HTTPResponse {
        guard case .untilEnd(let head) = phase else { throw .cutShort(after: body.count) }
        return response(head, reuse: nil)
    }

    private mutating func readHead(_ cursor: inout ByteCursor) throws(Problem) -> ResponseHead? {
        do throws(ResponseHeadParser.Problem) {
            return try headParser.read(&cursor)
        } catch {
            throw .head(error)
        }
    }

    private mutating func read(_ cursor: inout ByteCursor, _ chunks: inout ChunkedReader) throws(Problem) -> Bool {
        do throws(ChunkedReader.Problem) {
            return try chunks.read(&cursor, into: &body, limit: limit)
        } catch {
            throw error == .tooLong ? .tooLong(limit: limit) : .chunks
        }
    }

    private func response(_ head: ResponseHead, reuse: Duration?) -> HTTPResponse {
        HTTPResponse(status: head.status, fields: head.fields, body: body, reuse: reuse)
    }

    /// Returns the phase for the form in which the body comes (RFC 9112, 6.3).
    private func bodyPhase(_ head: ResponseHead) throws(Problem) -> Phase {
        guard head.status != 101 else { throw .upgrade }
        if method == "HEAD" || head.status == 204 || head.status == 304 { return .counted(head, left: 0) }
        let length = try head.contentLength
        if head.has("Transfer-Encoding") {
            // A recipient that reads this differently sees another end, which is a way to smuggle a response into a connection.
            let codings = head.values("Transfer-Encoding")
            guard head.minorVersion > 0, length == nil, codings.count == 1, codings[0].isSameWord(as: "chunked") else {
                throw .encoding
            }
            return .chunked(head, ChunkedReader())
        }
        guard let length else { return .untilEnd(head) }
        guard length <= limit else { throw .tooLong(limit: limit) }
        return .counted(head, left: length)
    }
}

extension ResponseHead {
    /// The announced length of the body. Several are accepted if they are the same (RFC 9110, 8.6).
    fileprivate var contentLength: Int? {
        get throws(ResponseReader.Problem) {
            guard has("Content-Length") else { return nil }
            let lengths = values("Content-Length")
            guard let first = lengths.first, lengths.allSatisfy({ $0.hasBytes(of: first) }),
                first.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let length = Int(first)
            else { throw .length }
            return length
        }
    }

    /// The time for which the connection can be used again (RFC 9112, 9.3): a second less than the server says that it waits, so
    /// that no request crosses its close.
    fileprivate var lifetime: Duration? {
        let connection = values("Connection")
        guard !connection.contains(where: { $0.isSameWord(as: "close") }),
            minorVersion > 0 || connection.contains(where: { $0.isSameWord(as: "keep-alive") })
        else { return nil }
        let timeout = values("Keep-Alive").lazy.compactMap { parameter -> Int? in
            let parts = parameter.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1).map { String(Substring($0)) }
            return parts.count == 2 && parts[0].isSameWord(as: "timeout") ? Int(parts[1]) : nil
        }.first
        guard let timeout else { return ResponseReader.idleTime }
        return timeout > 1 ? min(.seconds(timeout - 1), ResponseReader.idleTime) : nil
    }
}

extension ResponseReader.Problem {
    /// The fault of the response, to put after a colon.
    var description: String {
        switch self {
        case .head(let problem): problem.description
        case .upgrade: "it switches to another protocol, unasked"
        case .length: "its answer's Content-Length isn't a number"
        case .encoding: "its answer's Transfer-Encoding isn't chunked, or stands beside a length"
        case .chunks: "the chunks of its answer are malformed"
        case .tooLong(let limit): "its answer has more than \(limit) bytes"
        case .cutShort(let count): "its answer ends after \(count) bytes, too early"
        }
    }
}
