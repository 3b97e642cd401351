import Foundation
import PusherChannels

/// The events on standard input, a JSON object a line.
struct EventLines {
    private var number = 0

    /// The events of the next lines, as many as are asked for until the end.
    mutating func next(_ count: Int) throws -> [PusherBatchEvent] {
        var events: [PusherBatchEvent] = []
        while events.count < count, let event = try next() { events.append(event) }
        return events
    }

    /// The next line's event; nil at the end. Lines without anything on them are passed over.
    private mutating func next() throws -> PusherBatchEvent? {
        while let text = readLine() {
            number += 1
            if text.allSatisfy(\.isWhitespace) { continue }
            return try event(text)
        }
        return nil
    }

    private func event(_ text: String) throws -> PusherBatchEvent {
        guard let json = try? JSONValue(parsing: text), let channel = json["channel"]?.stringValue,
            let name = json["event"]?.stringValue
        else { throw Failure("line \(number) is no JSON object with a channel and an event") }
        // A text is the event's data as it is, as it is for the protocol; anything else is sent as its JSON.
        let data = json["data"].map { $0.stringValue ?? $0.text } ?? ""
        guard let info = InfoOption(argument: json["info"]?.stringValue ?? "") else {
            throw Failure("line \(number) has an info with something else than user_count, subscription_count and cache")
        }
        return PusherBatchEvent(
            channel: channel, eventName: name, data: data, excluding: json["socket_id"]?.stringValue, info: info.attributes)
    }
}
