import Foundation

/// The time and the processor time that this process has used so far.
struct Usage: Sendable {
    let seconds: Double
    let cpuSeconds: Double

    init() {
        seconds = Self.clock
        var usage = rusage()
        #if canImport(Darwin)
        getrusage(RUSAGE_SELF, &usage)
        #else
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #endif
        let parts = [usage.ru_utime, usage.ru_stime]
        cpuSeconds = parts.reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    }

    private init(seconds: Double, cpuSeconds: Double) {
        self.seconds = seconds
        self.cpuSeconds = cpuSeconds
    }

    static func - (later: Usage, earlier: Usage) -> Usage {
        Usage(seconds: later.seconds - earlier.seconds, cpuSeconds: later.cpuSeconds - earlier.cpuSeconds)
    }

    /// The seconds of a clock that is never set.
    static var clock: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The memory that the process holds (`VmRSS`), or the most that it has held (`VmHWM`), as Linux reports it. (`ru_maxrss`
    /// starts with the value of the process that started this one.)
    static func kiB(_ field: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(field + ":") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
