import Testing

@testable import TestSupport

/// Requests, from their bytes.
struct RequestReaderTests {
    /// The requests in some bytes that come in pieces of a size, and the reason why there are no more.
    private func read(_ text: String, in size: Int = .max, bodyLimit: Int = 100) -> ([ServerRequest], RequestRefusal?, rest: Int)
    {
        var requests: [ServerRequest] = []
        var reader = RequestReader(bodyLimit: bodyLimit)
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let piece = Array(bytes.prefix(size))
            bytes = bytes.dropFirst(size)
            let refusal: RequestRefusal? = piece.withUnsafeBytes { piece in
                var cursor = ByteCursor(piece)
                do throws(RequestRefusal) {
                    while let request = try reader.read(&cursor) {
                        requests.append(request)
                        reader = RequestReader(bodyLimit: bodyLimit)
                    }
                    return nil
                } catch {
                    return error
                }
            }
            if let refusal { return (requests, refusal, bytes.count) }
        }
        return (requests, nil, 0)
    }

    @Test(arguments: [1, 2, 3, 7, .max]) func `Requests are read the same however their bytes are split`(size: Int) {
        let text = """
            \r\nPOST /a?b=%20 HTTP/1.1\r\nHost:  localhost:1 \r\nX-Two: 1\r\nx-two:\t2\r\nContent-Length: 3\r\n\r\nabc\
            GET / HTTP/1.0\nConnection: Keep-Alive\n\n\
            PUT * HTTP/1.1\r\nTransfer-Encoding: Chunked\r\nConnection: close, x\r\n\r\n2;x=y\r\nab\r\n1\r\nc\r\n0\r\nTrailer: 1\r\n\r\n
            """
        let (requests, refusal, _) = read(text, in: size)
        #expect(refusal == nil)
        #expect(requests.map(\.head.method) == ["POST", "GET", "PUT"])
        #expect(requests.map(\.head.target) == ["/a?b=%20", "/", "*"])
        #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["abc", "", "abc"])
        #expect(requests.map(\.head.keepsAlive) == [true, true, false])
        #expect(requests.first?.head.fields.map(\.value) == ["localhost:1", "1", "2", "3"])
        #expect(requests.first?.head.fields.values("X-Two") == ["1", "2"])
    }

    private static let refused: [(head: String, status: Int)] = [
        ("GET /", 400), ("GET / HTTP/1.1 x", 400), ("GET  / HTTP/1.1", 400), ("G(T / HTTP/1.1", 400), ("GET a HTTP/1.1", 400),
        ("GET http://a/ HTTP/1.1", 400), ("GET /\u{1} HTTP/1.1", 400), ("GET / HTTP/2.0", 505), ("GET / HTTP/1.10", 505),
        ("GET / http/1.1", 505), ("GET / HTTP/1.1\r\nno field", 400), ("GET / HTTP/1.1\r\n: a", 400),
        ("GET / HTTP/1.1\r\na : b", 400), ("GET / HTTP/1.1\r\na: b\r\n c", 400), ("GET / HTTP/1.1\r\na: b\rc: d", 400),
        ("GET / HTTP/1.1\r\na: \u{0}", 400), ("GET / HTTP/1.1\r\nHost: a\r\nHost: b", 400), ("GET / HTTP/1.1\r\nHost: a, b", 400),
        ("GET / HTTP/1.1\r\nContent-Length: -1", 400), ("GET / HTTP/1.1\r\nContent-Length: 1, 2", 400),
        ("GET / HTTP/1.1\r\nContent-Length: 99999999999999999999", 400), ("GET / HTTP/1.1\r\nContent-Length: 101", 413),
        ("GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked", 400),
        ("GET / HTTP/1.1\r\nTransfer-Encoding: gzip", 501), ("GET / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked", 501),
        ("GET / HTTP/1.0\r\nTransfer-Encoding: chunked", 400), ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx", 400),
        ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n65", 413),
    ]

    @Test(arguments: refused)
    func `A malformed, unsupported, or too large request is refused with its status`(head: String, status: Int) {
        let (requests, refusal, _) = read(head + "\r\n\r\n")
        #expect(requests.isEmpty)
        #expect(refusal?.status == status, "\(head)")
    }

    @Test func `A head over the limit is refused with 431 before the rest of it is read`() {
        let limit = RequestReader.headLimit
        for head in ["GET /", "GET / HTTP/1.1\r\na: ", "GET / HTTP/1.1\r\n" + String(repeating: "a: b\r\n", count: limit / 6)] {
            let (requests, refusal, rest) = read(head + String(repeating: "x", count: 2 * limit), in: 1000)
            #expect(requests.isEmpty)
            #expect(refusal?.status == 431)
            #expect(rest > limit / 2)
        }
        let longest = "GET /" + String(repeating: "x", count: limit - 18) + " HTTP/1.1\r\n\r\n"
        #expect(longest.utf8.count == limit)
        #expect(read(longest).0.count == 1)
    }

    @Test func `A client that speaks TLS to a plain port is refused with 400 at its first bytes`() {
        #expect(read("\u{16}\u{3}\u{1}").1?.status == 400)
    }

    @Test func `A client that expects 100-continue is noticed once, and only before it sends the body`() {
        let head = "POST / HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n"
        for (sent, version, expected) in [
            (head, "1", [true, false]), (head, "0", [false, false]), (head + "a", "1", [false, false]),
        ] {
            var reader = RequestReader(bodyLimit: 100)
            Array(sent.replacing("HTTP/1.1", with: "HTTP/1.\(version)").utf8).withUnsafeBytes { bytes in
                var cursor = ByteCursor(bytes)
                let request = try? reader.read(&cursor)
                #expect(request == nil)
            }
            let found = [reader.takeExpectation(), reader.takeExpectation()]
            #expect(found == expected)
        }
    }

    @Test func `Each cookie of a response has a field of its own`() {
        let cookies = "a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT, b=2; Path=/"
        let head = String(decoding: StubResponse(headers: ["set-cookie": cookies]).head(length: nil), as: UTF8.self)
        #expect(head.contains("\r\nset-cookie: a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT\r\nset-cookie: b=2; Path=/\r\n"))
    }
}
