import Foundation
import PusherChannels

/// The events on standard input, one JSON object per line.
struct EventLines {
    private var lines: InputLines

    init(_ lines: InputLines) {
        self.lines = lines
    }

    /// Returns the events of the lines that are available, at most `count`. It waits for the first only, and returns none at the
    /// end.
    mutating func next(_ count: Int) throws -> [PusherBatchEvent] {
        var events: [PusherBatchEvent] = []
        while events.count < count, let text = try lines.next(waits: events.isEmpty) {
            // Blank lines are skipped.
            if !text.allSatisfy(\.isWhitespace) { events.append(try event(text)) }
        }
        return events
    }

    private func event(_ text: String) throws -> PusherBatchEvent {
        guard let json = try? JSONValue(parsing: text), let channel = json["channel"]?.stringValue,
            let name = json["event"]?.stringValue
        else { throw Failure("line \(lines.number) isn't a JSON object with a channel and an event") }
        // A string is the event's data itself, as in the protocol; anything else is sent as it is written, so no digit is lost.
        let data = json["data"]?.stringValue ?? rawJSONMember("data", of: text) ?? ""
        guard let info = InfoOption(argument: try self.text("info", json["info"]) ?? "") else {
            throw Failure("line \(lines.number) has an info other than user_count, subscription_count and cache")
        }
        return PusherBatchEvent(
            channel: channel, eventName: name, data: data, excluding: try self.text("socket_id", json["socket_id"]),
            info: info.attributes)
    }

    /// Returns the text of an optional member. Without this check, an event with a number as its socket id would reach the
    /// connection that must not get it.
    private func text(_ name: String, _ member: JSONValue?) throws -> String? {
        switch member {
        case nil, .null?: return nil
        case .string(let text)?: return text
        default: throw Failure("the \(name) of line \(lines.number) isn't a string")
        }
    }
}
