import Testing

@testable import PusherChannels

/// Responses: RFC 9112, 6 and 9.3, and input that isn't a response or is ambiguous.
@Suite struct ResponseReaderTests {
    static let transcripts: [(sent: String, method: String, read: String)] = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "GET", #"200 "hello" kept 30 s"#),
        ("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", "POST", #"200 "" kept 30 s"#),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello you", "GET", #"200 "hello" kept 30 s +4"#),
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno",
            "POST",
            #"403 "no" kept 30 s"#
        ),
        // A reason is optional, and a line feed alone ends a line, too.
        ("HTTP/1.1 200\nContent-Length: 1\n\nx", "GET", #"200 "x" kept 30 s"#),
        (
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"a\"\r\nContent-Length: 4\r\n\r\nnope", "GET",
            #"401 "nope" kept 30 s"#
        ),
        ("HTTP/1.1 302 Found\r\nLocation: http://elsewhere.example/\r\nContent-Length: 0\r\n\r\n", "GET", #"302 "" kept 30 s"#),
        // These have no body, whatever their header says.
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HEAD", #"200 "" kept 30 s"#),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HEAD", #"200 "" kept 30 s"#),
        ("HTTP/1.1 204 No Content\r\n\r\n", "GET", #"204 "" kept 30 s"#),
        ("HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc", "GET", #"204 "" kept 30 s +3"#),
        ("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "GET", #"304 "" kept 30 s"#),
        // Chunks.
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "GET", #"200 "hello" kept 30 s"#),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\n\r\n1;a=\"b\"\r\nx\r\nA \r\n0123456789\r\n000\r\nTrailer: x\r\n\r\nHTTP",
            "GET", #"200 "x0123456789" kept 30 s +4"#
        ),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "GET", #"200 "" kept 30 s"#),
        // The server announces that it closes the connection, or that it doesn't.
        ("HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 1\r\n\r\nx", "GET", #"200 "x" not kept"#),
        ("HTTP/1.1 200 OK\r\nConnection: x, close\r\nContent-Length: 1\r\n\r\nx", "GET", #"200 "x" not kept"#),
        ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", "GET", #"200 "x" not kept"#),
        ("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx", "GET", #"200 "x" kept 30 s"#),
        // The server announces how long it keeps the connection.
        ("HTTP/1.1 200 OK\r\nKeep-Alive: max=100, Timeout=5\r\nContent-Length: 1\r\n\r\nx", "GET", #"200 "x" kept 4 s"#),
        ("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=500\r\nContent-Length: 1\r\n\r\nx", "GET", #"200 "x" kept 30 s"#),
        ("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 1\r\n\r\nx", "GET", #"200 "x" not kept"#),
        (
            "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=99999999999999999999\r\nContent-Length: 1\r\n\r\nx", "GET",
            #"200 "x" kept 30 s"#
        ),
        ("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=-5\r\nContent-Length: 1\r\n\r\nx", "GET", #"200 "x" not kept"#),
        // Equal lengths count as one.
        ("HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nContent-Length: 2\r\n\r\nok", "GET", #"200 "ok" kept 30 s"#),
        // Incomplete.
        ("", "GET", "nothing yet"), ("H", "GET", "more to come"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "GET", "more to come"),
        ("HTTP/1.1 100 Continue\r\n\r\n", "GET", "more to come"), ("HTTP/1.1 200 OK\r\n\r\nanything", "GET", "more to come"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", "GET", "more to come"),
        // Not a response.
        ("SSH-2.0-OpenSSH_9.2p1\r\n", "GET", "head(PusherChannels.ResponseHeadParser.Problem.notHTTP)"),
        ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "GET", "head(PusherChannels.ResponseHeadParser.Problem.malformed)"),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", "GET", "upgrade"),
        // Ambiguous framing.
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "GET", "length"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello", "GET", "length"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5, 05\r\n\r\nhello", "GET", "length"),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "GET", "length"),
        ("HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx", "GET", "length"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\nhello", "GET", "length"),
        ("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "GET", "length"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", "GET", "length"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "GET", "encoding"),
        // The kelvin sign isn't a k.
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chun\u{212A}ed\r\n\r\n", "GET", "encoding"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "GET", "encoding"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "GET", "encoding"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\r\n", "GET", "encoding"),
        ("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "GET", "encoding"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello", "GET", "chunks"),
    ]

    @Test(arguments: transcripts.indices)
    func `A response is read or refused as RFC 9112 says, wherever its bytes are split`(row: Int) {
        let (sent, method, read) = Self.transcripts[row]
        let bytes = Array(sent.utf8)
        #expect(ResponseTranscript.reading([bytes], method: method) == read, "\(sent)")
        #expect(ResponseTranscript.reading(bytes.map { [$0] }, method: method) == read, "\(sent)")
        #expect(ResponseTranscript.reading(bytes.flatMap { [[], [$0]] }, method: method) == read, "\(sent)")
        for cut in 0...bytes.count {
            let pieces = [Array(bytes[..<cut]), Array(bytes[cut...])]
            #expect(ResponseTranscript.reading(pieces, method: method) == read, "\(sent) \(cut)")
        }
    }

    @Test(arguments: [
        // A body without a length ends with the connection.
        ("HTTP/1.1 200 OK\r\n\r\nall of it", #"200 "all of it" not kept"#), ("HTTP/1.0 200 OK\r\n\r\n", #"200 "" not kept"#),
        ("", "cutShort(after: 0)"), ("HTTP/1.1 200 OK\r\nContent-Le", "cutShort(after: 0)"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "cutShort(after: 4)"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "cutShort(after: 5)"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", "cutShort(after: 5)"),
    ])
    func `The end of the connection completes a body without a length and cuts short any other`(sent: String, read: String) {
        #expect(ResponseTranscript.reading(sent, ending: .closed) == read)
        #expect(ResponseTranscript.reading(sent.utf8.map { [$0] }, ending: .closed) == read)
    }

    @Test func `A body at the limit is read, and a larger one is refused as soon as its size is known`() {
        for (head, tail) in [
            ("Content-Length: 8\r\n\r\n", ""), ("Transfer-Encoding: chunked\r\n\r\n8\r\n", "\r\n0\r\n\r\n"), ("\r\n", ""),
        ] {
            let sent = "HTTP/1.1 200 OK\r\n\(head)12345678\(tail)"
            let ending = head == "\r\n" ? ResponseTranscript.Ending.closed : .open
            #expect(ResponseTranscript.reading(sent, limit: 8, ending: ending).hasPrefix("200 \"12345678\""))
            #expect(ResponseTranscript.reading(sent, limit: 7, ending: ending) == "tooLong(limit: 7)")
            #expect(ResponseTranscript.reading(sent.utf8.map { [$0] }, limit: 7, ending: ending) == "tooLong(limit: 7)")
        }
        // The announced length is enough; the body needn't arrive.
        for head in ["Content-Length: 8\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n8\r\n"] {
            #expect(ResponseTranscript.reading("HTTP/1.1 200 OK\r\n\(head)", limit: 7) == "tooLong(limit: 7)")
        }
        let several = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n4\r\n"
        #expect(ResponseTranscript.reading(several, limit: 7) == "tooLong(limit: 7)")
    }

    @Test func `A damaged response is read or refused the same in one piece as in two`() {
        var random = SplitMix64(seed: 42)
        let good = Self.transcripts.map { Array($0.sent.utf8) }
        for _ in 0..<3000 {
            var bytes = good.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes.insert(bytes.randomElement(using: &random) ?? 0, at: place)
                }
            }
            let whole = ResponseTranscript.reading([bytes], limit: 64, ending: .closed)
            let cut = Int.random(in: 0...bytes.count, using: &random)
            let two = ResponseTranscript.reading([Array(bytes[..<cut]), Array(bytes[cut...])], limit: 64, ending: .closed)
            #expect(whole == two, "\(String(decoding: bytes, as: UTF8.self))")
        }
    }
}

@Suite struct ResponseHeadParserTests {
    /// Returns the head in a text that comes in pieces of this size, as one line; nil if it isn't complete.
    private func read(_ text: String, by size: Int = .max) -> String? {
        var reader = ResponseHeadParser()
        let bytes = Array(text.utf8)
        let size = min(size, bytes.count + 1)
        let pieces = stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
        return outcome(of: pieces) { cursor in
            guard let head = try reader.read(&cursor) else { return nil }
            return (["\(head.status)"] + head.fields.map { "\($0.name)=\($0.value)" }).joined(separator: " ")
        }
    }

    @Test(arguments: [1, 2, 7, Int.max])
    func `A response head is read in pieces of any size, and the bytes after it are left`(size: Int) {
        let text = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nAccept:  abc= \t\r\nX-Empty:\r\n\r\nhi"
        #expect(read(text, by: size) == "101 Upgrade=websocket Accept=abc= X-Empty= +2")
    }

    @Test(
        arguments: [
            ("HTTP/1.0 200 Connection established\r\n\r\n", "200"), ("HTTP/1.1 407\r\n\r\n", "407"), ("HTTP/1.1 200 \n\n", "200"),
            ("HTTP/1.1 404 Not Found\nServer: x\n\n", "404 Server=x"),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 503 Busy\r\n\r\n", "503"),
            ("HTTP/1.1 200 OK\r\nA: b\r\n", nil), ("HTTP/1.1 100 Continue\r\n\r\n", nil), ("HT", nil), ("", nil),
        ] as [(String, String?)])
    func `A complete head is read, without a reason, with bare line feeds, or after interim ones`(text: String, head: String?) {
        #expect(read(text) == head)
    }

    @Test(arguments: [
        ("SSH-2.0-OpenSSH_9.2\r\n", ResponseHeadParser.Problem.notHTTP), ("\u{15}\u{3}\u{3}", .notHTTP), ("<html>", .notHTTP),
        ("x", .notHTTP),
        ("HTTP/2 200\r\n\r\n", .notHTTP), ("HTTP/1.1 2000 OK\r\n\r\n", .malformed), ("HTTP/1.1 abc OK\r\n\r\n", .malformed),
        ("HTTP/1.1\r\n\r\n", .malformed), ("HTTP/1.1 -10 x\r\n\r\n", .malformed), ("HTTP/1.1 099 x\r\n\r\n", .malformed),
        ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", .malformed), ("HTTP/1.1 200 OK\r\n: empty\r\n\r\n", .malformed),
        ("HTTP/1.1 200 OK\r\nA: b\rSet-Cookie: c\r\n\r\n", .malformed), ("HTTP/1.1 200 OK\rA: b\r\n\r\n", .malformed),
        ("HTTP/1.1 200 OK\r\nA: b\r\r\n\r\n", .malformed), ("HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n", .malformed),
        ("HTTP/1.1 200 OK\r\nA b: c\r\n\r\n", .malformed), ("HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n", .malformed),
    ])
    func `A head that isn't HTTP/1, or has a bad status or field, is refused`(text: String, problem: ResponseHeadParser.Problem) {
        for size in [1, 3, Int.max] { #expect(read(text, by: size) == "\(problem)") }
    }

    @Test func `A head of 16 KiB is read, and one of a byte more is refused`() {
        let value = String(repeating: "b", count: 16_384 - "HTTP/1.1 200 OK\r\nA: \r\n\r\n".utf8.count)
        #expect(read("HTTP/1.1 200 OK\r\nA: \(value)\r\n\r\n") == "200 A=\(value)")
        #expect(read("HTTP/1.1 200 OK\r\nA: \(value)b\r\n\r\n") == "tooLong")
    }
}

/// Chunked bodies: RFC 9112, 7.1, including those of a hostile server.
@Suite struct ChunkedReaderTests {
    private func read(_ text: String, limit: Int = 1 << 20) -> String {
        let results = Set([[Array(text.utf8)], text.utf8.map { [$0] }].map { read($0, limit: limit) })
        return results.count == 1 ? results.first ?? "" : "differs: \(results)"
    }

    private func read(_ pieces: [[UInt8]], limit: Int) -> String {
        var reader = ChunkedReader()
        var body: [UInt8] = []
        let read = outcome(of: pieces) { cursor in
            try reader.read(&cursor, into: &body, limit: limit) ? String(decoding: body, as: UTF8.self) : nil
        }
        return read ?? "more"
    }

    @Test(arguments: [
        ("0\r\n\r\n", ""), ("1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", "abc"),
        ("a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"),
        ("1A\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n", "abcdefghijklmnopqrstuvwxyz"), ("0001\r\nx\r\n000\r\n\r\n", "x"),
        ("1;name\r\nx\r\n0;last=\"1\"\r\n\r\n", "x"), ("1 ; name=value\r\nx\r\n0\t\r\n\r\n", "x"),
        ("1\r\nx\r\n0\r\nDigest: 1\r\nOther: 2\r\n\r\n", "x"), ("1\r\nx\r\n0\r\n\r\nnext", "x +4"),
        // The bytes of a chunk may look like framing.
        ("7\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n", "0\r\n\r\n\r\n"), ("1\r\nx\r\n", "more"), ("1\r\nx\r\n0\r\n", "more"),
        ("1\r\nx\r\n0\r\nTrailer: x\r\n", "more"), ("5\r\nhel", "more"),
    ])
    func `Valid chunks are joined to one body, and an unfinished body waits for more`(sent: String, body: String) {
        #expect(read(sent) == body)
    }

    @Test(arguments: [
        "\r\n", "x\r\n", ";a\r\n", " 1\r\nx\r\n", "-1\r\n", "+1\r\nx", "0x1\r\nx\r\n", "1_0\r\n", "1\nx\r\n", "1\rx", "1;a\nx",
        "1;a\u{0}\r\n", "1;\u{7F}\r\n", "1\r\nxy", "1\r\nx\n", "1\r\nx\rz", "1\r\nx0\r\n\r\n", "0\r\n\n", "0\r\nA: b\n\r\n",
        "0\r\n\r0", "0\r\nA: b\rC", "0\r\nA\u{0}\r\n",
    ])
    func `A chunk with a malformed size, extension, line end, or trailer is refused`(sent: String) {
        #expect(read(sent) == "malformed")
    }

    @Test func `A chunk size with too many digits is refused`() {
        #expect(read("FFFFFFFFFFFFFFFF\r\n") == "malformed")
        #expect(read("8000000000000000\r\n") == "malformed")
        #expect(read(String(repeating: "0", count: ChunkedReader.digitLimit + 1) + "\r\n\r\n") == "malformed")
        #expect(read(String(repeating: "0", count: ChunkedReader.digitLimit) + "\r\n\r\n") == "")
        #expect(read(String(repeating: "F", count: ChunkedReader.digitLimit) + "\r\n") == "tooLong")
    }

    /// Each one-byte chunk with a kilobyte of overhead is fine, but too many of them exceed the limit.
    @Test func `Chunk extensions and trailers are refused if they add up to more than 16 KiB`() {
        let extra = String(repeating: "e", count: 1024)
        #expect(read(String(repeating: "1;\(extra)\r\nx\r\n", count: 16) + "0\r\n\r\n").count == 16)
        #expect(read(String(repeating: "1;\(extra)\r\nx\r\n", count: 17) + "0\r\n\r\n") == "overhead")
        #expect(read("0\r\n" + String(repeating: "T: \(extra)\r\n", count: 17)) == "overhead")
        #expect(read("1;" + String(repeating: "e", count: ChunkedReader.overheadLimit + 1)) == "overhead")
    }
}

/// Reads pieces until a reader finds something, and returns it, or the reader's error, with the number of bytes after it.
private func outcome(of pieces: [[UInt8]], _ read: (inout ByteCursor) throws -> String?) -> String? {
    for (index, piece) in pieces.enumerated() {
        let outcome = piece.withUnsafeBytes { bytes -> String? in
            var cursor = ByteCursor(bytes)
            do {
                guard let found = try read(&cursor) else { return nil }
                let unread = cursor.remaining + pieces[(index + 1)...].reduce(0) { $0 + $1.count }
                return found + (unread > 0 ? " +\(unread)" : "")
            } catch {
                return "\(error)"
            }
        }
        if let outcome { return outcome }
    }
    return nil
}

/// Describes the response that a reader finds in a server's bytes as one line of text, however the bytes are split.
enum ResponseTranscript {
    enum Ending {
        case open, closed
    }

    static func reading(
        _ pieces: [[UInt8]], method: String = "GET", limit: Int = ResponseReader.bodyLimit, ending: Ending = .open
    ) -> String {
        var reader = ResponseReader(method: method, limit: limit)
        if let read = outcome(of: pieces, { cursor in try reader.read(&cursor).map(line) }) { return read }
        guard case .closed = ending else { return reader.hasBegun ? "more to come" : "nothing yet" }
        do throws(ResponseReader.Problem) {
            return line(try reader.end())
        } catch {
            return "\(error)"
        }
    }

    static func reading(
        _ text: String, method: String = "GET", limit: Int = ResponseReader.bodyLimit, ending: Ending = .open
    ) -> String {
        reading([Array(text.utf8)], method: method, limit: limit, ending: ending)
    }

    private static func line(_ response: HTTPResponse) -> String {
        let reuse = response.reuse.map { "kept \($0.components.seconds) s" } ?? "not kept"
        return "\(response.status) \"\(String(decoding: response.body, as: UTF8.self))\" \(reuse)"
    }
}
