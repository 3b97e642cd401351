import Foundation
import PusherChannels

/// A recording that can't be replayed.
public struct CannotReplay: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file, with the line if it has lines of its own.
    public let place: String
    /// What is wrong with it.
    public let reason: String

    /// The place and the reason.
    public var description: String { "\(place) can't be replayed: \(reason)" }
}

extension InMemoryServer {
    /// Publishes recorded events again, with the pauses between them, which begin now: in a harness in virtual time, and in real
    /// time if the server has no scheduler.
    ///
    /// A recording has one JSON object per line, with `time`, `channel`, `event` and `data`, as `pusher-channels listen --json`
    /// prints. Or it is an HTTP archive, as `pusher-channels serve --record`, ``TrafficRecorder/exportHAR()`` and Chrome make:
    /// the events that its WebSockets received are published, once even if several received them. Events that no backend can
    /// publish are left out: the protocol's own, client events, and those of an archive's encrypted channels, which can't be
    /// decrypted.
    ///
    /// - Parameters:
    ///   - recording: The recording.
    ///   - speed: How much shorter the pauses are; greater than zero.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    /// - Returns: The time until the last event, for ``TestHarness/advance(by:file:line:isolation:)``.
    /// - Throws: ``CannotReplay``, also for a recording without events to publish, and for an archive without messages of
    ///   WebSockets, as some browsers write it; any error from `Data(contentsOf:)`.
    @discardableResult
    public func replay(
        contentsOf recording: URL, speed: Double = 1, file: String = #fileID, line: Int = #line
    ) throws -> Duration {
        let (name, place) = (recording.lastPathComponent, sourceLocation(file, line))
        guard speed > 0, speed.isFinite else { throw CannotReplay(place: name, reason: "its speed is \(speed)") }
        let data = try Data(contentsOf: recording)
        var events = try RecordedEvent.events(ofArchive: data, of: name) ?? RecordedEvent.events(inLines: data, of: name)
        let start = events.map(\.time).min()
        let unpublished = ["pusher:", "pusher_internal:", "sockudo:", "sockudo_internal:", "client-"]
        events.removeAll { event in unpublished.contains(where: event.name.hasPrefix) }
        guard !events.isEmpty else { throw CannotReplay(place: name, reason: "it has no event that a backend can publish") }
        let pauses = events.map { event in start.map { event.time.timeIntervalSince($0) / speed } ?? 0 }
        // More than can be scheduled would end the process.
        guard pauses.allSatisfy({ $0 <= 1e9 }) else { throw CannotReplay(place: name, reason: "it takes years at this speed") }
        let scheduler: any Scheduler = scheduler ?? LiveScheduler()
        let now = scheduler.now
        for (event, pause) in zip(events, pauses) {
            _ = scheduler.schedule(at: now + .seconds(pause), label: "replayed event", from: place) { [weak self] in
                self?.publish(channel: event.channel, event: event.name, data: event.data, file: file, line: line)
            }
        }
        return .seconds(pauses.max() ?? 0)
    }
}

/// An event of a recording.
private struct RecordedEvent {
    let time: Date
    let channel: String
    let name: String
    let data: String

    static func events(inLines data: Data, of name: String) throws(CannotReplay) -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        for (index, line) in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        where !line.allSatisfy({ $0 == 0x20 || $0 == 0x0D }) {
            events.append(try RecordedEvent(line, place: "line \(index + 1) of \(name)"))
        }
        return events
    }

    /// Returns the events that an archive's WebSockets received; `nil` if it isn't one.
    static func events(ofArchive data: Data, of name: String) throws(CannotReplay) -> [RecordedEvent]? {
        let json = try? JSONValue(parsing: String(decoding: data, as: UTF8.self))
        guard let entries = json?["log"]?["entries"]?.arrayValue else { return nil }
        guard entries.contains(where: { $0["_webSocketMessages"] != nil }) else {
            throw CannotReplay(place: name, reason: "none of its entries has _webSocketMessages, as those of Chrome have")
        }
        var received: [(event: RecordedEvent, connection: Int)] = []
        for (connection, entry) in entries.enumerated() {
            for message in entry["_webSocketMessages"]?.arrayValue ?? [] {
                if let event = RecordedEvent(archived: message) { received.append((event, connection)) }
            }
        }
        // What was published once, each connection received at about the same time.
        var heard: [(event: RecordedEvent, connections: Set<Int>)] = []
        let sorted = received.enumerated().sorted { ($0.element.event.time, $0.offset) < ($1.element.event.time, $1.offset) }
        for (event, connection) in sorted.map(\.element) {
            let recent = heard.indices.reversed().prefix { event.time.timeIntervalSince(heard[$0].event.time) < 1 }
            let same = recent.first { heard[$0].event.isCopy(of: event) && !heard[$0].connections.contains(connection) }
            if let same { heard[same].connections.insert(connection) } else { heard.append((event, [connection])) }
        }
        return heard.map(\.event)
    }

    /// Creates an event from an archive's message; `nil` if it isn't one that a client got on a channel, and can read.
    private init?(archived message: JSONValue) {
        guard message["type"]?.stringValue == "receive", let seconds = message["time"].flatMap({ Double($0.text) }),
            let text = message["data"]?.stringValue, let frame = try? JSONValue(parsing: text),
            let channel = frame["channel"]?.stringValue, let name = frame["event"]?.stringValue,
            ChannelName(channel).kind != .encrypted
        else { return nil }
        time = Date(timeIntervalSince1970: seconds)
        self.channel = channel
        self.name = name
        data = frame["data"].map { $0.stringValue ?? $0.text } ?? ""
    }

    private func isCopy(of other: RecordedEvent) -> Bool {
        channel == other.channel && name == other.name && data == other.data
    }

    private init(_ line: Data, place: String) throws(CannotReplay) {
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: String(decoding: line, as: UTF8.self))
        } catch {
            throw CannotReplay(place: place, reason: "it is no JSON: \(error)")
        }
        func text(_ name: String) throws(CannotReplay) -> String {
            if let text = json[name]?.stringValue { return text }
            throw CannotReplay(place: place, reason: "it has no text for \(name)")
        }
        let written = try text("time")
        let time =
            (try? Date(written, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
            ?? (try? Date(written, strategy: .iso8601))
        guard let time else { throw CannotReplay(place: place, reason: "its time isn't as in 2026-05-01T12:00:00.000Z") }
        self.time = time
        channel = try text("channel")
        name = try text("event")
        data = json["data"].flatMap { $0 == .null ? nil : $0.stringValue ?? $0.text } ?? ""
    }
}

extension RequestStubbing {
    /// Responds to requests as an HTTP archive (HAR 1.2) says, which browsers' developer tools and
    /// ``TrafficRecorder/exportHAR()`` make.
    ///
    /// Each method and URL of the archive becomes a stub with its responses in order. Requests that had none, such as blocked
    /// ones, fail. The stubs must be used, as others must; make those of a whole page ``Stub/optional()``. What isn't HTTP is left
    /// out: WebSockets, for ``InMemoryServer/replay(contentsOf:speed:file:line:)``, and a page's own data. Any value matches a
    /// secret that is hidden in a URL, and a signed request may be of any time. Authorizations whose signature is hidden are left
    /// out, too: no server takes them, and a harness's own signs. So are responses whose bodies a recorder didn't keep, as they
    /// aren't text, or a browser didn't.
    ///
    /// - Parameters:
    ///   - archive: The archive.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    /// - Returns: The stubs.
    /// - Throws: ``CannotReplay``; any error from `Data(contentsOf:)`.
    @discardableResult
    public func replay(contentsOf archive: URL, file: String = #fileID, line: Int = #line) throws -> [Stub] {
        let (place, text) = (archive.lastPathComponent, String(decoding: try Data(contentsOf: archive), as: UTF8.self))
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: text)
        } catch {
            throw CannotReplay(place: place, reason: "it is no JSON: \(error)")
        }
        guard let entries = json["log"]?["entries"]?.arrayValue else {
            throw CannotReplay(place: place, reason: "it has no log.entries, as archives have")
        }
        var (order, responses): ([String], [String: [StubResponse]]) = ([], [:])
        for (index, entry) in entries.enumerated() where entry["_webSocketMessages"] == nil {
            guard let method = entry["request"]?["method"]?.stringValue, let url = entry["request"]?["url"]?.stringValue,
                let response = StubResponse(archived: entry["response"] ?? .null)
            else {
                let reason = "entry \(index + 1) lacks a method, a URL, or a status, or its body isn't the base64 that it says"
                throw CannotReplay(place: place, reason: reason)
            }
            // Some browsers write a WebSocket without its messages.
            guard response.status != 101, ["http://", "https://"].contains(where: url.hasPrefix) else { continue }
            let auth = (try? JSONValue(parsing: response.text))?["auth"]?.stringValue
            if let auth, auth.hasSuffix(Redaction.marker) { continue }
            if response.text.wholeMatch(of: #/<\d+ bytes>|<multipart>/#) != nil { continue }
            let content = entry["response"]?["content"]
            if content?["text"] == nil, (content?["size"]?.integerValue ?? 0) > 0 { continue }
            let name = "\(method.uppercased()) \(url.contains(Redaction.marker) ? RecordedRequest.unsigned(url) : url)"
            if responses[name] == nil { order.append(name) }
            responses[name, default: []].append(response)
        }
        return order.map { name in
            let stub = Stub(
                RecordedRequest.matcher(recorded: name), .sequence(responses[name] ?? []), location: sourceLocation(file, line))
            stubList.add(stub)
            return stub
        }
    }
}

extension RecordedRequest {
    /// Returns the matcher for a request of an archive.
    fileprivate static func matcher(recorded name: String) -> RequestMatcher {
        guard name.contains(Redaction.marker) else { return matcher(name) }
        let method = name.prefix { $0 != " " }
        return RequestMatcher(name) { method == $0.method && name.hasBytes(of: "\(method) \(unsigned($0.url))") }
    }

    /// Returns an address without its secrets, and without what is different each time that a request to the HTTP API is signed.
    fileprivate static func unsigned(_ url: String) -> String {
        Redaction.standard.redact(url: url).split { $0 == "?" || $0 == "&" }
            .filter { !$0.hasPrefix("auth_timestamp=") && !$0.hasPrefix("body_md5=") }.joined(separator: " ")
    }
}

extension StubResponse {
    /// Creates a response of an archive.
    fileprivate init?(archived json: JSONValue) {
        guard let status = json["status"]?.integerValue else { return nil }
        guard status > 0 else {
            self = .failure(.networkConnectionLost)
            return
        }
        var headers: [String: String] = [:]
        for header in json["headers"]?.arrayValue ?? [] {
            guard let name = header["name"]?.stringValue, let value = header["value"]?.stringValue else { continue }
            // The archive has the content as it was after decoding.
            guard !["content-encoding", "content-length", "transfer-encoding"].contains(name.lowercased()) else { continue }
            // Several fields of one name, such as Set-Cookie, are one for `URLSession`, too.
            headers[name] = headers[name].map { "\($0), \(value)" } ?? value
        }
        let text = json["content"]?["text"]?.stringValue ?? ""
        let isBase64 = json["content"]?["encoding"]?.stringValue == "base64"
        // Some writers break the lines.
        let bytes = Data(text.utf8)
        guard let body = isBase64 ? Data(base64Encoded: bytes.filter { $0 > 0x20 }) : bytes else { return nil }
        self.init(status: status, headers: headers, body: body)
    }
}
