/// Reads a body that comes in chunks (RFC 9112, 7.1): their sizes, their bytes, and past what nobody wants to know around them.
struct ChunkedReader {
    /// The number of bytes of extensions and trailers that are read past, all together: they are endless if a server likes.
    static let overheadLimit = 16_384
    /// Sizes with more digits are refused, also if most are zeros.
    static let digitLimit = 15

    /// The reason why the bytes are no chunks, or not to be read.
    enum Problem: Error, Equatable, Sendable {
        /// Not the digit, the text or the line end that must stand here.
        case malformed
        /// Extensions and trailers beyond the limit.
        case overhead
        /// More bytes in chunks than the limit.
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
    /// The number of bytes left of the chunk in hand.
    private var chunk = 0
    private var overhead = 0

    /// Reads on, adding the chunks' bytes to `body`, which gets no longer than `limit`; whether that was all.
    mutating func read(_ cursor: inout ByteCursor, into body: inout [UInt8], limit: Int) throws(Problem) -> Bool {
        while true {
            switch phase {
            case .end: return true
            case .data:
                // At once: what is announced needn't be waited for.
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

    /// The phase after a byte that is none of a chunk's own.
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
            // White space: some servers pad sizes with it.
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

    /// Counts a byte of an extension or a trailer, which is text.
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
