/// Reads the head of an HTTP response (RFC 9112, 2 to 5) as its bytes come, and not one byte more.
struct ResponseHeadParser {
    /// The largest size of a head in bytes.
    static let limit = 16_384

    /// The reason why the bytes aren't the head of a response.
    enum Problem: Error, Equatable, Sendable {
        /// The bytes don't begin like HTTP/1.
        case notHTTP
        /// A line that isn't HTTP.
        case malformed
        /// More bytes than the limit.
        case tooLong
    }

    private var head: [UInt8] = []

    /// Reads to the end of the head; returns `nil` if that is still to come. Interim responses (RFC 9110, 15.2) are skipped.
    mutating func read(_ cursor: inout ByteCursor) throws(Problem) -> ResponseHead? {
        while let byte = cursor.next() {
            head.append(byte)
            guard head.count <= Self.limit else { throw .tooLong }
            // Checked at once, because a peer that isn't an HTTP server may wait for us as we wait for it.
            if head.count <= 7, !"HTTP/1.".utf8.starts(with: head) { throw .notHTTP }
            guard byte == UInt8(ascii: "\n"), endsWithEmptyLine else { continue }
            let response = try parse()
            head = []
            if response.status == 101 || !(100..<200).contains(response.status) { return response }
        }
        return nil
    }

    /// Indicates whether the head ends with an empty line. A single line feed ends a line, too (RFC 9112, 2.2).
    private var endsWithEmptyLine: Bool {
        head.suffix(2).elementsEqual([10, 10]) || head.suffix(3).elementsEqual([10, 13, 10])
    }

    private func parse() throws(Problem) -> ResponseHead {
        var lines = head.split(separator: 10).map { $0.last == 13 ? $0.dropLast() : $0 }
        while lines.last?.isEmpty == true { lines.removeLast() }
        // A bare carriage return ends a line for some recipients and not for others (2.2, and RFC 9110, 5.5).
        guard let first = lines.first, lines.allSatisfy({ HTTPSyntax.isText($0) }) else { throw .malformed }
        let parts = first.split(separator: 32, maxSplits: 2)
        guard parts.count >= 2, parts[1].count == 3, let status = Int(String(decoding: parts[1], as: UTF8.self)), status >= 100
        else { throw .malformed }
        var fields: [(name: String, value: String)] = []
        for line in lines.dropFirst() {
            // A line that begins with white space would continue the one before it, which is obsolete, and a way to smuggle
            // (5.2).
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                line[..<colon].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { throw .malformed }
            let value = ResponseHead.trimmed(line[line.index(after: colon)...])
            fields.append((String(decoding: line[..<colon], as: UTF8.self), value))
        }
        let minorVersion = parts[0].elementsEqual("HTTP/1.0".utf8) ? 0 : 1
        return ResponseHead(status: status, fields: fields, minorVersion: minorVersion)
    }
}

extension ResponseHeadParser.Problem {
    /// The fault of the response, to put after a colon.
    var description: String {
        switch self {
        case .notHTTP: "what it sends isn't HTTP"
        case .malformed: "its answer has a malformed header line"
        case .tooLong: "its answer's head has more than \(ResponseHeadParser.limit) bytes"
        }
    }
}
