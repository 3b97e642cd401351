import Testing

@testable import PusherChannels

@Suite struct ResponseHeadParserTests {
    /// Reads a text in pieces of the given size and returns the head and the text after it.
    private func read(_ text: String, by size: Int = .max) throws -> (reply: ResponseHead?, rest: String) {
        var reader = ResponseHeadParser()
        let bytes = Array(text.utf8)
        var position = 0
        while position < bytes.count {
            let end = size == .max ? bytes.count : min(position + size, bytes.count)
            let found: (ResponseHead, String)? = try bytes[position..<end].withUnsafeBytes { piece in
                var cursor = ByteCursor(piece)
                guard let reply = try reader.read(&cursor) else { return nil }
                let left = cursor.take(upTo: .max)
                return (reply, String(decoding: left, as: UTF8.self) + String(decoding: bytes[end...], as: UTF8.self))
            }
            if let found { return found }
            position = end
        }
        return (nil, "")
    }

    @Test(arguments: [1, 2, 7, Int.max])
    func theHeadIsReadHoweverItComesAndNotMore(size: Int) throws {
        let (reply, rest) = try read(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nSec-WebSocket-Accept:  abc= \t\r\nX-Empty:\r\n\r\nhi",
            by: size)
        #expect(reply?.status == 101)
        #expect(reply?.fields.map(\.name) == ["Upgrade", "Sec-WebSocket-Accept", "X-Empty"])
        #expect(reply?.fields.map(\.value) == ["websocket", "abc=", ""])
        #expect(rest == "hi")
    }

    @Test(arguments: [
        ("HTTP/1.0 200 Connection established\r\n\r\n", 200), ("HTTP/1.1 407\r\n\r\n", 407), ("HTTP/1.1 200 \n\n", 200),
        ("HTTP/1.1 404 Not Found\nServer: x\n\n", 404),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 503 Busy\r\n\r\n", 503),
    ])
    func whatServersWrite(text: String, status: Int) throws {
        #expect(try read(text).reply?.status == status)
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\nA: b\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "HT", ""])
    func whatIsNotThereYet(text: String) throws {
        #expect(try read(text).reply == nil)
    }

    @Test(arguments: [
        ("SSH-2.0-OpenSSH_9.2\r\n", ResponseHeadParser.Problem.notHTTP), ("\u{15}\u{3}\u{3}", .notHTTP), ("<html>", .notHTTP),
        ("HTTP/2 200\r\n\r\n", .notHTTP), ("HTTP/1.1 2000 OK\r\n\r\n", .malformed), ("HTTP/1.1 abc OK\r\n\r\n", .malformed),
        ("HTTP/1.1\r\n\r\n", .malformed), ("HTTP/1.1 -10 x\r\n\r\n", .malformed), ("HTTP/1.1 099 x\r\n\r\n", .malformed),
        ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", .malformed), ("HTTP/1.1 200 OK\r\n: empty\r\n\r\n", .malformed),
        ("HTTP/1.1 200 OK\r\nA: b\rSet-Cookie: c\r\n\r\n", .malformed), ("HTTP/1.1 200 OK\rA: b\r\n\r\n", .malformed),
        ("HTTP/1.1 200 OK\r\nA: b\r\r\n\r\n", .malformed), ("HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n", .malformed),
        ("HTTP/1.1 200 OK\r\nA b: c\r\n\r\n", .malformed), ("HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n", .malformed),
    ])
    func whatIsNoReply(text: String, problem: ResponseHeadParser.Problem) {
        for size in [1, 3, Int.max] {
            #expect(throws: problem) { try read(text, by: size) }
        }
    }

    @Test func garbageIsNoticedAtItsFirstByte() {
        #expect(throws: ResponseHeadParser.Problem.notHTTP) { try read("x") }
    }

    @Test(arguments: [0, 1])
    func headsHaveALimit(more: Int) throws {
        let frame = "HTTP/1.1 200 OK\r\nA: \r\n\r\n"
        let text = "HTTP/1.1 200 OK\r\nA: " + String(repeating: "b", count: 16_384 - frame.utf8.count + more) + "\r\n\r\n"
        if more == 0 {
            #expect(try read(text).reply?.status == 200)
        } else {
            #expect(throws: ResponseHeadParser.Problem.tooLong) { try read(text) }
        }
    }

    @Test func aHeadWithoutEndIsRefusedBeforeItFillsTheMemory() {
        #expect(throws: ResponseHeadParser.Problem.tooLong) {
            try read("HTTP/1.1 200 OK\r\n" + String(repeating: "A: b\r\n", count: 4000))
        }
    }
}
