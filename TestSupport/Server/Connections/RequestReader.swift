import PusherChannels

/// The head of a request: what it asks for, and its fields as they came.
struct RequestHead: Sendable {
    let method: String
    /// The path and the query.
    let target: String
    let fields: [(name: String, value: String)]
    /// 0 for HTTP/1.0; anything later counts as 1.
    let minorVersion: Int

    /// Indicates whether the client may send another request on the connection (RFC 9112, 9.3).
    var keepsAlive: Bool {
        let options = fields.values("Connection")
        return !options.contains { $0.isSameWord(as: "close") }
            && (minorVersion > 0 || options.contains { $0.isSameWord(as: "keep-alive") })
    }

    /// Indicates whether the client sends the body only once it is told to (RFC 9110, 10.1.1).
    var expectsContinue: Bool { minorVersion > 0 && fields.values("Expect").contains { $0.isSameWord(as: "100-continue") } }
}

/// A whole request.
struct ServerRequest: Sendable {
    let head: RequestHead
    let body: [UInt8]
}

/// The reason why a request isn't read, as its response says.
struct RequestRefusal: Error, Equatable {
    let status: Int
    let reason: String

    fileprivate static let notHTTP = malformed("A request has no control characters; HTTP without TLS is spoken here")

    fileprivate static func malformed(_ reason: String) -> RequestRefusal { RequestRefusal(status: 400, reason: reason) }
}

/// Reads a request (RFC 9112) as its bytes come, and not one byte more. It takes the time that its bytes take.
struct RequestReader {
    /// The largest size of a head in bytes. A browser sends the cookies of everything that was ever developed on `localhost`.
    static let headLimit = 1 << 16

    private enum Phase {
        case head
        case counted(left: Int)
        case chunked
    }

    private let bodyLimit: Int
    private var phase = Phase.head
    private var bytes: [UInt8] = []
    private(set) var head: RequestHead?
    private var chunks = ChunkedReader()
    private var body: [UInt8] = []
    private var isContinued = false

    /// Creates a reader that refuses bodies of more than `bodyLimit` bytes.
    init(bodyLimit: Int) {
        self.bodyLimit = bodyLimit
    }

    /// Continues to read; returns `nil` if some of the request is still to come.
    mutating func read(_ cursor: inout ByteCursor) throws(RequestRefusal) -> ServerRequest? {
        if case .head = phase {
            guard let head = try readHead(&cursor) else { return nil }
            self.head = head
            phase = try bodyPhase(head)
        }
        switch phase {
        case .head: return nil
        case .counted(let left):
            let piece = cursor.take(upTo: left)
            body += piece
            phase = .counted(left: left - piece.count)
            guard left == piece.count else { return nil }
        case .chunked:
            guard try readChunks(&cursor) else { return nil }
        }
        return head.map { ServerRequest(head: $0, body: body) }
    }

    /// Indicates whether the client waits to be told to send the body. Says so once.
    mutating func takeExpectation() -> Bool {
        guard let head, head.expectsContinue, body.isEmpty, !isContinued else { return false }
        isContinued = true
        return true
    }

    // MARK: The head

    private mutating func readHead(_ cursor: inout ByteCursor) throws(RequestRefusal) -> RequestHead? {
        while let byte = cursor.next() {
            // Empty lines before a request are left over from the one before (2.2).
            if bytes.isEmpty, byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") { continue }
            guard bytes.count < Self.headLimit else {
                throw RequestRefusal(status: 431, reason: "The head of a request has \(Self.headLimit) bytes at most")
            }
            // Checked at once, because a client that speaks TLS waits for the server as the server waits for it.
            guard byte >= 0x20 && byte != 0x7F || [0x09, 0x0A, 0x0D].contains(byte) else { throw .notHTTP }
            bytes.append(byte)
            guard byte == UInt8(ascii: "\n"), endsWithEmptyLine else { continue }
            defer { bytes = [] }
            return try RequestHead(bytes)
        }
        return nil
    }

    private var endsWithEmptyLine: Bool {
        bytes.suffix(2).elementsEqual([10, 10]) || bytes.suffix(3).elementsEqual([10, 13, 10])
    }

    // MARK: The body

    /// Returns the phase for the form in which the body comes (6.3).
    private func bodyPhase(_ head: RequestHead) throws(RequestRefusal) -> Phase {
        let lengths = head.fields.values("Content-Length")
        let codings = head.fields.values("Transfer-Encoding")
        if let coding = codings.first {
            // A server that reads this differently sees another end, which is a way to smuggle a request into a connection.
            guard head.minorVersion > 0, lengths.isEmpty else {
                throw .malformed("Transfer-Encoding can't stand beside a length")
            }
            guard codings.count == 1, coding.isSameWord(as: "chunked") else {
                throw RequestRefusal(status: 501, reason: "The only transfer coding is chunked")
            }
            return .chunked
        }
        guard let first = lengths.first else { return .counted(left: 0) }
        guard lengths.allSatisfy({ $0.hasBytes(of: first) }), first.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let length = Int(first)
        else { throw .malformed("Content-Length is no length") }
        // Checked at once, without waiting for the bytes that are announced.
        guard length <= bodyLimit else { throw tooLong }
        return .counted(left: length)
    }

    private mutating func readChunks(_ cursor: inout ByteCursor) throws(RequestRefusal) -> Bool {
        do throws(ChunkedReader.Problem) {
            return try chunks.read(&cursor, into: &body, limit: bodyLimit)
        } catch {
            throw error == .tooLong ? tooLong : .malformed("The chunks are malformed")
        }
    }

    private var tooLong: RequestRefusal { RequestRefusal(status: 413, reason: "A request has \(bodyLimit) bytes at most") }
}

extension RequestHead {
    /// Creates a head from its bytes, with the empty line at its end.
    fileprivate init(_ bytes: [UInt8]) throws(RequestRefusal) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }[...]
        let parts = (lines.popFirst() ?? []).split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3, Self.isToken(parts[0]), parts[1].allSatisfy({ $0 > 0x20 }) else {
            throw .malformed("The first line is none of a request")
        }
        guard parts[2].starts(with: "HTTP/1.".utf8), parts[2].count == 8,
            let minor = Int(String(decoding: parts[2].suffix(1), as: UTF8.self))
        else { throw RequestRefusal(status: 505, reason: "The only version of HTTP is 1") }
        // What names a server, too, is for a proxy.
        guard parts[1].first == UInt8(ascii: "/") || parts[1].elementsEqual("*".utf8) else {
            throw .malformed("A request names a path, and begins it with a slash")
        }
        var fields: [(name: String, value: String)] = []
        for line in lines where !line.isEmpty {
            // A line that begins with white space would continue the one before it, which is obsolete, and a way to smuggle (5.2).
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), Self.isToken(line[..<colon]),
                !line[colon...].contains(UInt8(ascii: "\r"))
            else { throw .malformed("A line of the head is no field") }
            var value = line[(colon + 1)...].drop(while: Self.isSpace)
            while let last = value.last, Self.isSpace(last) { value.removeLast() }
            fields.append((String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self)))
        }
        guard fields.values("Host").count <= 1 else { throw .malformed("There is more than one Host") }
        self.init(
            method: String(decoding: parts[0], as: UTF8.self), target: String(decoding: parts[1], as: UTF8.self), fields: fields,
            minorVersion: minor == 0 ? 0 : 1)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool { HTTPSyntax.isToken(String(decoding: bytes, as: UTF8.self)) }
}
