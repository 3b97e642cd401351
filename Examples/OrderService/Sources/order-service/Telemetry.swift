import CoreMetrics
import Synchronization

/// Metrics as text, for `GET /metrics`: what swift-prometheus does in a service of yours.
final class Telemetry: MetricsFactory {
    final class Meter: CounterHandler, RecorderHandler, TimerHandler {
        let value = Mutex(0.0)

        func increment(by amount: Int64) { value.withLock { $0 += Double(amount) } }
        func reset() { value.withLock { $0 = 0 } }
        func record(_ value: Int64) { record(Double(value)) }
        func record(_ value: Double) { self.value.withLock { $0 = value } }
        func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    }

    private let meters = Mutex<[String: Meter]>([:])

    var text: String { meters.withLock { $0 }.map { "\($0) \($1.value.withLock { $0 })\n" }.sorted().joined() }

    private func meter(_ label: String, _ dimensions: [(String, String)]) -> Meter {
        let name = label + "{" + dimensions.map { "\($0)=\"\($1)\"" }.joined(separator: ",") + "}"
        return meters.withLock { meters in
            let meter = meters[name] ?? Meter()
            meters[name] = meter
            return meter
        }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { meter(label, dimensions) }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { meter(label, dimensions) }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate _: Bool) -> any RecorderHandler {
        meter(label, dimensions)
    }
    func destroyCounter(_: any CounterHandler) {}
    func destroyRecorder(_: any RecorderHandler) {}
    func destroyTimer(_: any TimerHandler) {}
}
