import Foundation
import PusherChannels
import TestSupport
import XCTest

/// The talk's tests. Changed: the recorder is an instance instead of `Szimpla.Client.instance`, `record(path:)` and
/// `validate(path:)` are `record(to:)` and `validate(against:)`, the app of `XCUIApplication` is a class below, tests throw
/// instead of `try!`, and files are in a temporary directory.
final class AppUITests: XCTestCase {
    private let directory = TemporaryDirectory()

    override func tearDown() {
        directory.remove()
        super.tearDown()
    }

    private func makeRecorder(environment: [String: String] = [:]) -> TrafficRecorder {
        TrafficRecorder(environment: environment.merging(["TRAFFIC_DIR": directory.path]) { own, _ in own })
    }

    /// The talk's first sample. Changed: `try!` is `try`, and the test checks the recording.
    func testDefault() throws {
        let recorder = makeRecorder()
        recorder.start()
        let app = Application(recorder)
        app.buttons["Navigate"]?.tap()
        try recorder.record(to: "CMDUConf.json")

        let file = try String(contentsOfFile: "\(directory.path)/CMDUConf.json", encoding: .utf8)
        XCTAssertTrue(file.contains(#""url": "https://api.soundcloud.com/tracks/1235123""#), file)
    }

    /// "If you want to provide your own validator … You can." Changed: the protocol's argument labels are today's, and a request
    /// is a ``TrafficEntry``.
    func testOwnValidator() throws {
        struct SameCount: Validator {
            struct Failure: Error {}
            func validate(recordedRequests: [TrafficEntry], localRequests: [TrafficEntry]) throws {
                if recordedRequests.count != localRequests.count { throw Failure() }
            }
        }
        try write(#"[{"url": "something else"}]"#)
        let recorder = makeRecorder()
        let app = Application(recorder)
        app.buttons["Navigate"]?.tap()
        try recorder.validate(against: "CMDUConf.json", using: SameCount())
        app.buttons["Navigate"]?.tap()  // Stopped by validate: not recorded.
        try recorder.validate(against: "CMDUConf.json", using: SameCount())
        recorder.start()
        XCTAssertThrowsError(try recorder.validate(against: "CMDUConf.json", using: SameCount()))
    }

    /// "What if you want to test only analytics? … filter only the requests with this URL, or … this particular path."
    func testOnlyAnalytics() throws {
        struct AnalyticsFilter: RequestFilter {
            func include(request: TrafficEntry) -> Bool { request.url.hasPrefix("https://analytics.example.com") }
        }
        try write(#"[{"url": "https://analytics.example.com/events", "parameters": {"marcheta": "1"}, "body": {}}]"#)
        let recorder = makeRecorder()
        let app = Application(recorder)
        app.buttons["Navigate"]?.tap()
        app.buttons["Marcheta"]?.tap()
        XCTAssertThrowsError(try recorder.validate(against: "CMDUConf.json"))
        try recorder.validate(against: "CMDUConf.json", filter: "https://analytics.example.com")
        try recorder.validate(against: "CMDUConf.json", filter: .path("/events"))
        try recorder.validate(against: "CMDUConf.json", filter: AnalyticsFilter())
    }

    /// The demo's app: "I am proxying the configuration … so I create a configuration with this instance in between." The test
    /// records it, validates it, and then validates it with a parameter that differs.
    func testDemo() async throws {
        let server = MockSession(delivery: .immediate)
        server.stub("POST /events", .ok)
        func navigate(marcheta: Bool, _ recorder: TrafficRecorder) async throws {
            let session = URLSession(configuration: recorder.recording(server).urlSessionConfiguration())
            var request = URLRequest(url: try XCTUnwrap(URL(string: "https://analytics.example.com/events?marcheta=\(marcheta)")))
            request.httpMethod = "POST"
            _ = try await session.data(for: request)
        }
        let recorder = makeRecorder()
        recorder.start()
        try await navigate(marcheta: true, recorder)
        try recorder.record(to: "CMDUConf.json")
        recorder.start()
        try await navigate(marcheta: true, recorder)
        try recorder.validate(against: "CMDUConf.json")
        recorder.start()
        try await navigate(marcheta: false, recorder)
        XCTAssertThrowsError(try recorder.validate(against: "CMDUConf.json")) { error in
            XCTAssertTrue("\(error)".contains("parameters.marcheta\n    expected: \"true\"\n    got:      \"false\""), "\(error)")
        }
    }

    private func write(_ text: String) throws {
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory.path)/CMDUConf.json"))
    }
}

/// A stand-in for the talk's app, whose buttons send requests.
private struct Application {
    struct Button {
        let action: () -> Void
        func tap() { action() }
    }

    let buttons: [String: Button]

    init(_ recorder: TrafficRecorder) {
        let server = MockSession(delivery: .immediate)
        server.mockResponse = (Data(), nil, nil)
        let session = recorder.recording(server)
        func send(_ url: String) -> Button {
            Button {
                guard let url = URL(string: url) else { return }
                session.dataTask(with: URLRequest(url: url)) { _, _, _ in }.resume()
            }
        }
        buttons = [
            "Navigate": send("https://api.soundcloud.com/tracks/1235123"),
            "Marcheta": send("https://analytics.example.com/events?marcheta=1"),
        ]
    }
}
