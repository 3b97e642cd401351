/// Reads a body that comes in chunks (RFC 9112, 7.1): their sizes and their bytes. Extensions and trailers are skipped.
package struct ChunkedReader {
    /// The number of bytes of extensions and trailers that are skipped in total, because a server could send them without end.
    static let overheadLimit = 16_384
    /// The maximum number of digits of a size, even if most are zeros.
    static let digitLimit = 15

    /// The reason why the chunks can't be read.
    package enum Problem: Error, Equatable, Sendable {
        /// A byte other than the digit, the text or the line end that must come here.
        case malformed
        /// Extensions and trailers beyond the limit.
        case overhead
        /// More bytes in chunks than the limit allows.
        case tooLong
    }

    private enum Phase {
        case size(digits: Int)
        case extensions
        case sizeLineFeed
        case data
        case dataReturn, dataLineFeed
        case trailer(isEmpty: Bool)
        case trailerLineFeed
        case lastLineFeed
        case end
    }

    private var phase = Phase.size(digits: 0)
    /// The number of bytes left of the current chunk.
    private var chunk = 0
    private var overhead = 0

    package init() {}

    /// Continues to read, and adds the chunks' bytes to `body`, which gets no longer than `limit`; returns whether that was all.
    package mutating func read(_ cursor: inout ByteCursor, into body: inout [UInt8], limit: Int) throws(Problem) -> Bool {
        while true {
            switch phase {
            case .end: return true
            case .data:
                // Checked at once, without waiting for the bytes that are announced.
                guard chunk <= limit - body.count else { throw .tooLong }
                let bytes = cursor.take(upTo: chunk)
                guard !bytes.isEmpty else { return false }
                body += bytes
                chunk -= bytes.count
                if chunk == 0 { phase = .dataReturn }
            default:
                guard let byte = cursor.next() else { return false }
                phase = try phase(after: byte)
            }
        }
    }

    /// Returns the phase after a byte that isn't part of a chunk's data.
    private mutating func phase(after byte: UInt8) throws(Problem) -> Phase {
        let (carriageReturn, lineFeed) = (UInt8(ascii: "\r"), UInt8(ascii: "\n"))
        switch (phase, byte) {
        case (.size(let digits), _):
            if let digit = Self.value(ofDigit: byte) {
                guard digits < Self.digitLimit else { throw .malformed }
                chunk = chunk << 4 | digit
                return .size(digits: digits + 1)
            }
            guard digits > 0 else { throw .malformed }
            if byte == carriageReturn { return .sizeLineFeed }
            // Some servers pad sizes with white space.
            guard byte == UInt8(ascii: ";") || byte == 0x20 || byte == 0x09 else { throw .malformed }
            return .extensions
        case (.extensions, carriageReturn): return .sizeLineFeed
        case (.extensions, _):
            try skip(byte)
            return .extensions
        case (.sizeLineFeed, lineFeed): return chunk == 0 ? .trailer(isEmpty: true) : .data
        case (.dataReturn, carriageReturn): return .dataLineFeed
        case (.dataLineFeed, lineFeed): return .size(digits: 0)
        case (.trailer(let isEmpty), carriageReturn): return isEmpty ? .lastLineFeed : .trailerLineFeed
        case (.trailer, _):
            try skip(byte)
            return .trailer(isEmpty: false)
        case (.trailerLineFeed, lineFeed): return .trailer(isEmpty: true)
        case (.lastLineFeed, lineFeed): return .end
        default: throw .malformed
        }
    }

    /// Skips and counts a byte of an extension or a trailer, which must be text.
    private mutating func skip(_ byte: UInt8) throws(Problem) {
        guard byte >= 0x20 && byte != 0x7F || byte == 0x09 else { throw .malformed }
        overhead += 1
        guard overhead <= Self.overheadLimit else { throw .overhead }
    }

    private static func value(ofDigit byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte - UInt8(ascii: "A")) + 10
        default: nil
        }
    }
}
