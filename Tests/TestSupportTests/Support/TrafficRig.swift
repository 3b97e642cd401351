import Foundation
import TestSupport
import Testing

/// A directory that is removed with the last reference to it.
final class TemporaryDirectory: Sendable {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("traffic-\(UUID().uuidString)").path

    deinit {
        remove()
    }

    /// Removes the directory early, for XCTest, which keeps its test cases until the process ends.
    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// A recorder with files in a temporary directory, at a fixed time.
struct TrafficRig {
    static let time = Date(timeIntervalSince1970: 1_700_000_000)

    let directory = TemporaryDirectory()
    let recorder: TrafficRecorder

    init(headers: Set<String> = [], redaction: Redaction = .standard, environment: [String: String] = [:]) {
        recorder = TrafficRecorder(
            headers: headers, redaction: redaction,
            environment: environment.merging(["TRAFFIC_DIR": directory.path]) { own, _ in own }, wallClock: { Self.time })
    }

    /// Records requests without a body.
    func get(_ urls: String...) {
        for url in urls { recorder.record(RecordedRequest(url: url)) }
    }

    /// Records a request with a JSON body.
    func post(_ body: String, to url: String = "https://api.example.com/events") {
        recorder.record(
            RecordedRequest(method: "POST", url: url, headers: ["Content-Type": "application/json"], body: Data(body.utf8)))
    }

    /// Returns an open socket, and the recording socket that its client calls.
    func openSocket(host: String = "ws.example") -> (MockWebSocket, RecordingWebSocket) {
        let socket = MockWebSocket(server: .manual)
        let recording = recorder.recording(socket)
        recording.open(WebSocketRequest(secure: true, host: host, port: 443, path: "/app/key"), attempt: ConnectionAttempt(1))
        socket.accept()
        return (socket, recording)
    }

    func write(_ text: String, to name: String = "traffic.json") throws {
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory.path)/\(name)"))
    }

    func text(of name: String = "traffic.json") throws -> String {
        try String(contentsOfFile: "\(directory.path)/\(name)", encoding: .utf8)
    }

    func json(of name: String = "traffic.json") throws -> JSONValue {
        try JSONValue(parsing: text(of: name))
    }

    /// Records to a file, and returns its entries.
    func written() throws -> [JSONValue] {
        try recorder.record(to: "traffic.json")
        return try json().arrayValue ?? []
    }

    /// The recorded traffic as an HTTP archive.
    var archive: String { String(decoding: recorder.exportHAR(), as: UTF8.self) }

    /// Returns the error about a file that the traffic can't be compared with.
    func complaint(about file: String) throws -> TrafficError? {
        try write(file)
        return #expect(throws: TrafficError.self) { try recorder.validate(against: "traffic.json") }
    }

    /// Returns the mismatch between the traffic and a file written by hand, or `nil` if the traffic passes.
    func mismatch(_ file: String, using validator: some Validator = .subset) throws -> TrafficMismatch? {
        try write(file)
        do {
            try recorder.validate(against: "traffic.json", using: validator)
            return nil
        } catch let mismatch as TrafficMismatch {
            return mismatch
        }
    }

    /// Returns the paths of the fields that differ, in all entries.
    func paths(_ file: String, using validator: some Validator = .subset) throws -> [String] {
        try mismatch(file, using: validator)?.differences.flatMap(\.paths) ?? []
    }
}

extension TrafficMismatch.Difference {
    var paths: [String] {
        switch self {
        case .mismatched(_, _, let fields): fields.map(\.path)
        case .missing(let position, _): ["missing \(position)"]
        case .unexpected(let position, _): ["unexpected \(position)"]
        case .moved(let position, _, let came): ["moved \(position) to \(came)"]
        }
    }
}
