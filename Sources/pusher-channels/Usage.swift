import Foundation

/// The resources that this process has used so far.
struct Usage: Sendable {
    private let time = ContinuousClock().now
    private let cpuSeconds: Double

    init() {
        let usage = Self.current
        cpuSeconds = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
    }

    func since(_ earlier: Usage) -> (seconds: Double, cpuSeconds: Double) {
        (earlier.time.duration(to: time) / .seconds(1), cpuSeconds - earlier.cpuSeconds)
    }

    static var peakResidentKiB: Int {
        #if canImport(Darwin)
        return current.ru_maxrss / 1024
        #else
        // On Linux, `ru_maxrss` begins with the value of the process that started this one.
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return peak.flatMap { Int($0.filter(\.isNumber)) } ?? current.ru_maxrss
        #endif
    }

    private static var current: rusage {
        var usage = rusage()
        #if canImport(Darwin)
        getrusage(RUSAGE_SELF, &usage)
        #else
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #endif
        return usage
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }
}
