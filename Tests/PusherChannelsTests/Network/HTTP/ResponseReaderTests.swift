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
        ("", "GET", "nothing yet"),
        ("H", "GET", "more to come"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "GET", "more to come"),
        ("HTTP/1.1 100 Continue\r\n\r\n", "GET", "more to come"),
        ("HTTP/1.1 200 OK\r\n\r\nanything", "GET", "more to come"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", "GET", "more to come"),
        // Not a response.
        ("SSH-2.0-OpenSSH_9.2p1\r\n", "GET", "head(PusherChannels.ResponseHeadParser.Problem.notHTTP)"),
        ("HTTP/2 200\r\n\r\n", "GET", "head(PusherChannels.ResponseHeadParser.Problem.notHTTP)"),
        ("HTTP/1.1 x00 OK\r\n\r\n", "GET", "head(PusherChannels.ResponseHeadParser.Problem.malformed)"),
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
    func aTranscriptIsReadTheSameWhereverItIsCut(row: Int) {
        let (sent, method, read) = Self.transcripts[row]
        let bytes = Array(sent.utf8)
        #expect(ResponseTranscript.reading([bytes], method: method) == read, "\(sent)")
        #expect(ResponseTranscript.reading(bytes.map { [$0] }, method: method) == read, "\(sent)")
        #expect(ResponseTranscript.reading(bytes.flatMap { [[], [$0]] }, method: method) == read, "\(sent)")
        for cut in 0...bytes.count {
            #expect(
                ResponseTranscript.reading([Array(bytes[..<cut]), Array(bytes[cut...])], method: method) == read, "\(sent) \(cut)"
            )
        }
    }

    @Test(arguments: [
        // A body without a length ends with the connection.
        ("HTTP/1.1 200 OK\r\n\r\nall of it", #"200 "all of it" not kept"#),
        ("HTTP/1.0 200 OK\r\n\r\n", #"200 "" not kept"#),
        ("", "cutShort(after: 0)"),
        ("HTTP/1.1 200 OK\r\nContent-Le", "cutShort(after: 0)"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "cutShort(after: 4)"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "cutShort(after: 5)"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", "cutShort(after: 5)"),
    ])
    func theEndOfTheConnection(sent: String, read: String) {
        #expect(ResponseTranscript.reading(sent, ending: .closed) == read)
        #expect(ResponseTranscript.reading(sent.utf8.map { [$0] }, ending: .closed) == read)
    }

    @Test func aBodyOfTheLimitIsTakenAndOneByteMoreIsNot() {
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

    @Test func aHeadWithoutEndIsLeft() {
        let endless = "HTTP/1.1 200 OK\r\n" + String(repeating: "X: 0123456789\r\n", count: 2000)
        #expect(ResponseTranscript.reading(endless) == "head(PusherChannels.ResponseHeadParser.Problem.tooLong)")
    }

    /// Any input is read without a trap, with the same result in one piece as in two.
    @Test func damagedResponses() {
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
