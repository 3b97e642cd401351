@testable import PusherChannels

/// Describes the response that a reader finds in a server's bytes as one line of text, however the bytes are split.
enum ResponseTranscript {
    /// The state of the connection after the bytes.
    enum Ending {
        case open, closed
    }

    static func reading(
        _ pieces: [[UInt8]], method: String = "GET", limit: Int = ResponseReader.bodyLimit, ending: Ending = .open
    ) -> String {
        var reader = ResponseReader(method: method, limit: limit)
        for (index, piece) in pieces.enumerated() {
            let outcome = piece.withUnsafeBytes { bytes -> String? in
                var cursor = ByteCursor(bytes)
                do throws(ResponseReader.Problem) {
                    guard let response = try reader.read(&cursor) else { return nil }
                    let unread = cursor.remaining + pieces[(index + 1)...].reduce(0) { $0 + $1.count }
                    return line(response) + (unread > 0 ? " +\(unread)" : "")
                } catch {
                    return "\(error)"
                }
            }
            if let outcome { return outcome }
        }
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
