import Testing

@testable import PusherChannels

/// Chunked bodies: RFC 9112, 7.1, including those of a hostile server.
@Suite struct ChunkedReaderTests {
    private func read(_ text: String, limit: Int = 1 << 20) -> String {
        var results: Set<String> = []
        for pieces in [[Array(text.utf8)], text.utf8.map { [$0] }] { results.insert(read(pieces, limit: limit)) }
        return results.count == 1 ? results.first ?? "" : "differs: \(results)"
    }

    private func read(_ pieces: [[UInt8]], limit: Int) -> String {
        var reader = ChunkedReader()
        var body: [UInt8] = []
        for (index, piece) in pieces.enumerated() {
            let outcome = piece.withUnsafeBytes { bytes -> String? in
                var cursor = ByteCursor(bytes)
                do throws(ChunkedReader.Problem) {
                    guard try reader.read(&cursor, into: &body, limit: limit) else { return nil }
                } catch {
                    return "\(error)"
                }
                let unread = cursor.remaining + pieces[(index + 1)...].reduce(0) { $0 + $1.count }
                return String(decoding: body, as: UTF8.self) + (unread > 0 ? " +\(unread)" : "")
            }
            if let outcome { return outcome }
        }
        return "more"
    }

    @Test(arguments: [
        ("0\r\n\r\n", ""),
        ("1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", "abc"),
        ("a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"),
        ("1A\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n", "abcdefghijklmnopqrstuvwxyz"),
        ("0001\r\nx\r\n000\r\n\r\n", "x"),
        ("1;name\r\nx\r\n0;last=\"1\"\r\n\r\n", "x"),
        ("1 ; name=value\r\nx\r\n0\t\r\n\r\n", "x"),
        ("1\r\nx\r\n0\r\nDigest: 1\r\nOther: 2\r\n\r\n", "x"),
        ("1\r\nx\r\n0\r\n\r\nnext", "x +4"),
        // The bytes of a chunk may look like framing.
        ("7\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n", "0\r\n\r\n\r\n"),
        ("1\r\nx\r\n", "more"),
        ("1\r\nx\r\n0\r\n", "more"),
        ("1\r\nx\r\n0\r\nTrailer: x\r\n", "more"),
        ("5\r\nhel", "more"),
    ])
    func chunks(sent: String, body: String) {
        #expect(read(sent) == body)
    }

    @Test(arguments: [
        "\r\n", "x\r\n", ";a\r\n", " 1\r\nx\r\n", "-1\r\n", "+1\r\nx", "0x1\r\nx\r\n", "1_0\r\n", "1\nx\r\n", "1\rx", "1;a\nx",
        "1;a\u{0}\r\n", "1;\u{7F}\r\n", "1\r\nxy", "1\r\nx\n", "1\r\nx\rz", "1\r\nx0\r\n\r\n", "0\r\n\n", "0\r\nA: b\n\r\n",
        "0\r\n\r0", "0\r\nA: b\rC", "0\r\nA\u{0}\r\n",
    ])
    func noChunks(sent: String) {
        #expect(read(sent) == "malformed")
    }

    @Test func sizesThatAreNone() {
        #expect(read("FFFFFFFFFFFFFFFF\r\n") == "malformed")
        #expect(read("8000000000000000\r\n") == "malformed")
        #expect(read(String(repeating: "0", count: ChunkedReader.digitLimit + 1) + "\r\n\r\n") == "malformed")
        #expect(read(String(repeating: "0", count: ChunkedReader.digitLimit) + "\r\n\r\n") == "")
        #expect(read(String(repeating: "F", count: ChunkedReader.digitLimit) + "\r\n") == "tooLong")
    }

    @Test func theLimit() {
        #expect(read("5\r\nhello\r\n0\r\n\r\n", limit: 5) == "hello")
        #expect(read("5\r\n", limit: 4) == "tooLong")
        #expect(read("4\r\nabcd\r\n1\r\n", limit: 4) == "tooLong")
        #expect(read("4\r\nabcd\r\n0\r\n\r\n", limit: 4) == "abcd")
    }

    /// Each one-byte chunk with a kilobyte of overhead is fine, but too many of them exceed the limit.
    @Test func whatIsReadPastHasALimit() {
        let extra = String(repeating: "e", count: 1024)
        #expect(read(String(repeating: "1;\(extra)\r\nx\r\n", count: 16) + "0\r\n\r\n").count == 16)
        #expect(read(String(repeating: "1;\(extra)\r\nx\r\n", count: 17) + "0\r\n\r\n") == "overhead")
        #expect(read("0\r\n" + String(repeating: "T: \(extra)\r\n", count: 17)) == "overhead")
        #expect(read("1;" + String(repeating: "e", count: ChunkedReader.overheadLimit + 1)) == "overhead")
    }
}
