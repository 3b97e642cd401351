#if os(Linux)
import Foundation

extension ConnectProxy {
    /// The reply of a proxy to a request that it has no objection to.
    enum Reply: Sendable {
        /// It grants the tunnel, with a head that comes in pieces.
        case established(cut: Cut = .nowhere)
        /// It grants the tunnel in HTTP/1.0.
        case establishedHTTP10
        /// It grants the tunnel with a `Content-Length`, which means nothing in an answer to CONNECT.
        case establishedWithBodyLength
        /// It grants the tunnel, and these bytes come in the same segment as the head: they are the tunnel's first.
        case establishedFollowed(by: [UInt8])
        /// It answers with this status and a text, and closes.
        case refused(status: Int)
        /// It answers with exactly these bytes, and closes.
        case garbage([UInt8])
        /// It answers with 200 and header fields without end.
        case endlessHeader
        /// It never answers.
        case silence
        /// It closes without an answer.
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

        /// The values of the fields of a name, in whatever case that is written.
        func values(_ name: String) -> [String] {
            fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        }

        /// The address that a tunnel is asked for, such as `example.com:443`; nil if the request is no CONNECT.
        var target: String? {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 3, words[0] == "CONNECT", words[2].hasPrefix("HTTP/1.") else { return nil }
            return String(words[1])
        }
    }
}
#endif
