import Foundation
import PusherChannels

/// The events on standard input, a JSON object a line.
struct EventLines {
    private var lines: InputLines

    init(_ lines: InputLines) {
        self.lines = lines
    }

    /// The events of the lines that are there, as many as are asked for at most; it waits for the first only. None at the end.
    mutating func next(_ count: Int) throws -> [PusherBatchEvent] {
        var events: [PusherBatchEvent] = []
        while events.count < count, let text = try lines.next(waits: events.isEmpty) {
            // Lines without anything on them are passed over.
            if !text.allSatisfy(\.isWhitespace) { events.append(try event(text)) }
        }
        return events
    }

    private func event(_ text: String) throws -> PusherBatchEvent {
        guard let json = try? JSONValue(parsing: text), let channel = json["channel"]?.stringValue,
            let name = json["event"]?.stringValue
        else { throw Failure("line \(lines.number) is no JSON object with a channel and an event") }
        // A text is the event's data as it is, as it is for the protocol; anything else is sent as it stands, so that no digit is lost.
        let data = json["data"]?.stringValue ?? rawJSONMember("data", of: text) ?? ""
        guard let info = InfoOption(argument: json["info"]?.stringValue ?? "") else {
            throw Failure("line \(lines.number) has an info with something else than user_count, subscription_count and cache")
        }
        return PusherBatchEvent(
            channel: channel, eventName: name, data: data, excluding: json["socket_id"]?.stringValue, info: info.attributes)
    }
}
