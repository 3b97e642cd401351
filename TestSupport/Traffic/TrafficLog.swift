import Foundation
import PusherChannels

/// The entries that a recorder has recorded, in order. It holds no secret that the redaction knows.
struct TrafficLog: Sendable {
    /// An HTTP request and, once it is there, its response.
    struct Exchange: Sendable {
        let request: RecordedRequest
        let started: Date
        var response: Response?

        struct Response: Sendable {
            let status: Int
            let headers: [String: String]
            let text: String
            let ended: Date
        }
    }

    /// A WebSocket connection, as it was requested.
    struct Connection: Equatable, Sendable {
        let number: Int
        let url: String
        let headers: [String: String]
        let started: Date
    }

    /// A WebSocket message.
    struct Frame: Sendable {
        let connection: Connection
        let isSent: Bool
        let text: String
        let time: Date
    }

    enum Content: Sendable {
        case exchange(Exchange)
        case connection(Connection)
        case frame(Frame)
    }

    /// A line of the log; a connection has no entry, only its frames do.
    struct Line: Sendable {
        let number: Int
        var entry: TrafficEntry?
        var content: Content
    }

    var isRecording = true
    private(set) var lines: [Line] = []
    private var lastNumber = 0

    /// Clears the log and records from now on. Responses to earlier requests are ignored.
    mutating func restart() {
        isRecording = true
        lines = []
    }

    /// Appends a line, if the log is recording, and returns its number.
    mutating func append(_ content: Content, _ entry: TrafficEntry?) -> Int? {
        guard isRecording else { return nil }
        lastNumber += 1
        lines.append(Line(number: lastNumber, entry: entry, content: content))
        return lastNumber
    }

    /// Adds a response to its request, unless the request was removed in the meantime.
    mutating func complete(_ number: Int, with response: Exchange.Response) {
        // Most responses belong to one of the latest requests.
        guard let index = lines.lastIndex(where: { $0.number == number }), case .exchange(var exchange) = lines[index].content
        else { return }
        exchange.response = response
        lines[index].content = .exchange(exchange)
        if let entry = lines[index].entry {
            let status: [Name: JSONValue] = ["status": .integer(response.status)]
            lines[index].entry = TrafficEntry(members: entry.members.merging(status) { $1 }, url: entry.url)
        }
    }
}
