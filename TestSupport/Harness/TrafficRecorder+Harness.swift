import PusherChannels

extension TrafficRecorder {
    /// Keeps a finding for the test's end, whether the harness knows of this recorder or not.
    func find(_ finding: Finding) {
        refusals.withLock { $0.append(finding) }
        TestHarness.current?.keep(self)
    }
}

extension WebSocket {
    /// The mock that it is, or that it records.
    var mock: MockWebSocket? { self as? MockWebSocket ?? (self as? RecordingWebSocket)?.base.mock }
}
