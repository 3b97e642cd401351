import Foundation
import PusherChannels

extension TrafficRecorder {
    /// Returns the recorded traffic as an HTTP archive (HAR 1.2), which browsers' developer tools show. Frames are written as
    /// Chrome does, in `_webSocketMessages` of their connection. Secrets are hidden as in files.
    public func exportHAR() -> Data {
        let lines = log.withLock { $0.lines }
        var connections: [TrafficLog.Connection] = []
        var entries: [(started: Date, json: JSONValue)] = []
        var messages: [Int: [JSONValue]] = [:]
        for line in lines {
            switch line.content {
            case .exchange(let exchange): entries.append((exchange.started, HAR.entry(exchange)))
            case .connection(let connection): connections.append(connection)
            case .frame(let frame):
                // The connection was opened before the recorder was started.
                if !connections.contains(frame.connection) { connections.append(frame.connection) }
                messages[frame.connection.number, default: []].append(HAR.message(frame))
            }
        }
        entries += connections.map { ($0.started, HAR.entry($0, messages[$0.number] ?? [])) }
        // Sorted by time; entries with equal times stay in the order in which they came.
        let sorted = entries.enumerated().sorted { ($0.element.started, $0.offset) < ($1.element.started, $1.offset) }
        let log: JSONValue = [
            "version": "1.2",
            "creator": ["name": "swift-pusher-channels TestSupport", "version": "1"],
            "entries": .array(sorted.map(\.element.json)),
        ]
        return Data((JSONValue.object(["log": log]).prettyText + "\n").utf8)
    }
}

/// The parts of an HTTP archive.
private enum HAR {
    static func entry(_ exchange: TrafficLog.Exchange) -> JSONValue {
        let wait = exchange.response.map { $0.ended.timeIntervalSince(exchange.started) * 1_000 } ?? 0
        return entry(started: exchange.started, wait: wait, request(exchange.request), response(exchange.response))
    }

    static func entry(_ connection: TrafficLog.Connection, _ messages: [JSONValue]) -> JSONValue {
        let request = RecordedRequest(url: connection.url, headers: connection.headers)
        // A server that accepts a connection sends a message.
        let reply = response(status: messages.isEmpty ? 0 : 101, headers: [:], text: "")
        guard case .object(let members) = entry(started: connection.started, wait: 0, Self.request(request), reply) else {
            return [:]
        }
        let own: [Name: JSONValue] = ["_resourceType": "websocket", "_webSocketMessages": .array(messages)]
        return .object(members.merging(own) { $1 })
    }

    static func message(_ frame: TrafficLog.Frame) -> JSONValue {
        [
            "type": frame.isSent ? "send" : "receive",
            "time": .double(frame.time.timeIntervalSince1970),
            "opcode": 1,
            "data": .string(frame.text),
        ]
    }

    private static func entry(started: Date, wait: Double, _ request: JSONValue, _ response: JSONValue) -> JSONValue {
        [
            "startedDateTime": .string(started.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))),
            "time": .double(wait),
            "request": request,
            "response": response,
            "cache": [:],
            "timings": ["send": 0, "wait": .double(wait), "receive": 0],
        ]
    }

    private static func request(_ request: RecordedRequest) -> JSONValue {
        var members: [Name: JSONValue] = [
            "method": .string(request.method),
            "url": .string(request.url),
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": headers(request.headers),
            "queryString": .array(
                RecordedRequest.fields(of: request.query).map { ["name": .string($0.name), "value": .string($0.value)] }),
            "headersSize": -1,
            "bodySize": .integer(request.body.count),
        ]
        if !request.body.isEmpty {
            let type = request.header("Content-Type") ?? "application/octet-stream"
            members["postData"] = ["mimeType": .string(type), "text": .string(request.text)]
        }
        return .object(members)
    }

    /// A request without a response has status 0, as in browsers.
    private static func response(_ response: TrafficLog.Exchange.Response?) -> JSONValue {
        Self.response(status: response?.status ?? 0, headers: response?.headers ?? [:], text: response?.text ?? "")
    }

    private static func response(status: Int, headers: [String: String], text: String) -> JSONValue {
        let type = headers.first { $0.key.lowercased() == "content-type" }?.value ?? ""
        let target = headers.first { $0.key.lowercased() == "location" }?.value ?? ""
        return [
            "status": .integer(status),
            "statusText": "",
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": Self.headers(headers),
            "content": ["size": .integer(text.utf8.count), "mimeType": .string(type), "text": .string(text)],
            "redirectURL": .string(target),
            "headersSize": -1,
            "bodySize": -1,
        ]
    }

    private static func headers(_ headers: [String: String]) -> JSONValue {
        .array(headers.sorted { $0.key < $1.key }.map { ["name": .string($0.key), "value": .string($0.value)] })
    }
}
