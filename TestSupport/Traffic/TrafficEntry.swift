import Foundation
import PusherChannels

/// A request or a frame, as it was recorded or as a file describes it. Validators and filters look at entries.
///
/// Recorded entries hold no secret that the recorder's redaction knows. In a file's entries, any value may be a pattern.
public struct TrafficEntry: Equatable, Sendable, CustomStringConvertible {
    /// The kind of an entry.
    public enum Kind: Equatable, Sendable {
        /// An HTTP request.
        case request
        /// A WebSocket message that the client sent.
        case sent
        /// A WebSocket message that the client received.
        case received
    }

    /// The entry's members in the file.
    let members: [Name: JSONValue]
    /// The URL with its query: the request's, or that of the frame's connection, which a file doesn't name.
    public let url: String

    /// Creates an entry from a request, to try out validators and filters.
    public init(_ request: RecordedRequest, status: Int? = nil, redaction: Redaction = .standard) {
        var members: [Name: JSONValue] = [
            "url": .string(redaction.redact(String(request.url.prefix { $0 != "?" && $0 != "#" }))),
            "method": .string(request.method),
            "parameters": redaction.redact(Self.object(RecordedRequest.fields(of: request.query))),
            "body": redaction.redact(Self.body(request)),
        ]
        if !request.headers.isEmpty {
            let headers = request.headers.map { ($0.lowercased(), JSONValue.string(redaction.redact($1, named: $0))) }
            members["headers"] = JSONValue(members: headers)
        }
        members["status"] = status.map { .integer($0) }
        self.init(members: members, url: redaction.redact(url: request.url))
    }

    init(members: [Name: JSONValue], url: String? = nil) {
        self.members = members
        self.url = url ?? members["url"]?.stringValue ?? ""
    }

    // MARK: Parts

    /// The kind of the entry. A file's entry about a frame counts as received unless it says `sent`.
    public var kind: Kind {
        guard isFrame else { return .request }
        return members["frame"] == "sent" ? .sent : .received
    }

    /// The request's method; `nil` for a frame, and if a file names none.
    public var method: String? { members["method"]?.stringValue }

    /// The frame's event; `nil` for a request.
    public var event: String? { members["event"]?.stringValue }

    /// The channel that a frame is about, even if only its data names it, as in a subscription; `nil` for a request.
    public var channel: String? { members["channel"]?.stringValue ?? members["data"]?["channel"]?.stringValue }

    /// Returns the JSON of one of the entry's fields: `parameters`, `body`, `data`, `status`; `nil` if there is none.
    public func json(_ field: String) -> String? { members[field]?.text }

    /// A text such as `POST https://example.com/events` or `sent pusher:subscribe, news`.
    public var description: String {
        switch kind {
        case .request: [method, members["url"]?.stringValue ?? "a request"].compactMap(\.self).joined(separator: " ")
        case .sent: "sent \(frameTitle)"
        case .received: members["frame"] == nil ? "a frame, \(frameTitle)" : "received \(frameTitle)"
        }
    }

    private var frameTitle: String {
        let title = [event, channel].compactMap(\.self).joined(separator: ", ")
        return title.isEmpty ? ValueMatcher.show(members["data"] ?? .object(members)) : title
    }

    var isFrame: Bool { ["frame", "event", "channel", "data"].contains { members[$0] != nil } }

    // MARK: Reading requests

    /// Returns fields as an object. A field that occurs several times becomes an array, so that no value is lost.
    private static func object(_ fields: [(name: String, value: String)]) -> JSONValue {
        let members = Dictionary(grouping: fields, by: \.name).mapValues { fields in
            let values = fields.map { JSONValue.string($0.value) }
            return values.count == 1 ? values[0] : .array(values)
        }
        return JSONValue(members: members.map { ($0.key, $0.value) })
    }

    /// Returns a request's body. JSON and forms are parsed, other text stays as it is, and only the size of binary data is kept.
    private static func body(_ request: RecordedRequest) -> JSONValue {
        guard !request.body.isEmpty else { return [:] }
        let type = request.header("Content-Type")?.lowercased() ?? ""
        guard let text = String(data: request.body, encoding: .utf8) else { return .string("<\(request.body.count) bytes>") }
        if isMultipart(text, type: type) { return "<multipart>" }
        if let json = JSONValue(container: text) ?? (type.contains("json") ? try? JSONValue(parsing: text) : nil) { return json }
        return isForm(text, type: type) ? object(RecordedRequest.fields(of: text)) : .string(text)
    }

    /// Returns whether a body is a form with files. Nothing of it is shown, because its parts may hold anything and its boundary
    /// differs each time.
    static func isMultipart(_ text: String, type: String?) -> Bool {
        type?.lowercased().hasPrefix("multipart/") == true
            || text.hasPrefix("--") && text.lowercased().contains("content-disposition:")
    }

    /// Returns whether a body is a form, judging by its content as well, because URLSession sends the type of a form with any
    /// body that has no type.
    static func isForm(_ text: String, type: String?) -> Bool {
        let type = type?.lowercased() ?? ""
        return (type.isEmpty || type.contains("form-urlencoded")) && text.contains("=")
            && !text.contains { $0.isWhitespace || "\"<{".contains($0) }
    }
}

extension TrafficEntry {
    /// Creates an entry for a message. `url` is the URL of its connection.
    init(frame text: String, isSent: Bool, url: String, redaction: Redaction) {
        var members: [Name: JSONValue]
        switch try? JSONValue(parsing: text) {
        case .object(let message)?: members = message.merging(Self.opened(message)) { $1 }
        case let value?: members = ["data": value]
        case nil: members = ["data": .string(text)]
        }
        members = redaction.redact(.object(members)).objectValue ?? [:]
        members["frame"] = isSent ? "sent" : "received"
        self.init(members: members, url: url)
    }

    /// Returns the members that hold JSON in a string, as JSON, so that people can read it.
    private static func opened(_ message: [Name: JSONValue]) -> [Name: JSONValue] {
        guard let data = message["data"].map(opened) else { return [:] }
        guard case .object(let members) = data else { return ["data": data] }
        let inner = members.filter { $0.key == "channel_data" || $0.key == "user_data" }.mapValues(opened)
        return ["data": .object(members.merging(inner) { $1 })]
    }

    private static func opened(_ value: JSONValue) -> JSONValue {
        value.stringValue.flatMap { try? JSONValue(parsing: $0) } ?? value
    }
}
