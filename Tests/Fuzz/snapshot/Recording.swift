import Foundation

/// Made-up traffic.
enum Recording {
    private static let headers: Set<String> = ["Authorization", "Cookie", "X-Api-Key", "X-Note", "Content-Type"]
    private static let time = Date(timeIntervalSince1970: 0)

    static let connection = TrafficLog.Connection(number: 1, url: "wss://a.example/app/key", headers: [:], started: time)

    static func recorder() -> TrafficRecorder {
        TrafficRecorder(headers: headers, environment: [:], wallClock: { time })
    }

    /// Returns the text of the file that the recorder writes.
    static func file(of recorder: TrafficRecorder) -> String {
        TrafficDocument.text(of: recorder.entries, headers: recorder.headers)
    }

    /// Returns a request with the text's first two lines as the query and a header, and with the rest as the body.
    static func request(_ text: String) -> RecordedRequest {
        let lines = text.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        return RecordedRequest(
            method: "POST", url: "https://a.example/\(lines[0])", headers: ["X-Note": lines.count > 1 ? lines[1] : ""],
            body: Data((lines.last ?? "").utf8))
    }

    /// Returns everything that a recorder shows of its traffic.
    static func shown(by recorder: TrafficRecorder) -> String {
        let nothing = TrafficEntry(members: ["url": "https://a.example/", "body": ["none": 1]])
        var mismatch = ""
        do {
            try TrafficValidator.exact.validate(recordedRequests: recorder.entries, localRequests: [nothing])
        } catch {
            mismatch = "\(error)"
        }
        let archive = String(decoding: recorder.exportHAR(), as: UTF8.self)
        return [file(of: recorder), "\(recorder.entries)", archive, mismatch].joined(separator: "\n")
    }
}
