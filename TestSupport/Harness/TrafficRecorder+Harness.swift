import PusherChannels

extension TrafficRecorder {
    /// Keeps a finding for the test's end, even if the harness doesn't know this recorder.
    func find(_ finding: Finding) {
        refusals.withLock { $0.append(finding) }
        TestHarness.current?.keep(self)
    }
}

extension WebSocket {
    /// This socket as a mock, or the mock that it records.
    var mock: MockWebSocket? { self as? MockWebSocket ?? (self as? RecordingWebSocket)?.base.mock }
}
