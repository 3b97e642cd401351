import Foundation

/// A notification that a client reports as a line of its output, in the order in which its delegate received it.
enum Heard: Codable, Equatable, Sendable {
    case state(String)
    case subscribed(channel: String)
    case mayHaveMissed(channel: String, since: Date)
    case event(channel: String, number: Int)
    case error(kind: String, message: String)
    case subscriptionFailed(channel: String, message: String)

    init(line: String) throws {
        self = try JSONDecoder().decode(Heard.self, from: Data(line.utf8))
    }

    func line() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
