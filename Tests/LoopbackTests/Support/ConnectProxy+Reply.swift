#if os(Linux)
import Foundation

extension ConnectProxy {
    /// The proxy's reply to a request that it accepts.
    enum Reply: Sendable {
        /// Grants the tunnel, with a head that is sent in pieces.
        case established(cut: Cut = .nowhere)
        /// Grants the tunnel in HTTP/1.0.
        case establishedHTTP10
        /// Grants the tunnel with a `Content-Length`, which means nothing in a response to CONNECT.
        case establishedWithBodyLength
        /// Grants the tunnel, with these first bytes of the tunnel in the same segment as the head.
        case establishedFollowed(by: [UInt8])
        /// Replies with this status and a text, and closes.
        case refused(status: Int)
        /// Replies with exactly these bytes, and closes.
        case garbage([UInt8])
        /// Replies with 200 and endless header fields.
        case endlessHeader
        /// Never replies.
        case silence
        /// Closes without a reply.
        case closed
    }

    struct Request: Equatable, Sendable {
        /// `CONNECT example.com:443 HTTP/1.1`
        let line: String
        /// The header's fields in their order.
        let fields: [Field]

        struct Field: Equatable, Sendable {
            let name: String
            let value: String
        }

        init(head: String) {
            var lines = head.components(separatedBy: "\r\n").filter { !$0.isEmpty }
            line = lines.isEmpty ? "" : lines.removeFirst()
            fields = lines.map { line in
                let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                return Field(
                    name: String(parts[0]), value: parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
            }
        }

        /// Returns the values of the fields with a name, regardless of case.
        func values(_ name: String) -> [String] {
            fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        }

        /// The requested address of the tunnel, such as `example.com:443`; nil if the request isn't a CONNECT.
        var target: String? {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 3, words[0] == "CONNECT", words[2].hasPrefix("HTTP/1.") else { return nil }
            return String(words[1])
        }
    }
}
#endif
