import Foundation

/// The resources that this process holds, as Linux reports them; all zero elsewhere.
struct ProcessState {
    let residentKiB: Int
    let descriptors: Int
    let threads: Int

    init() {
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ").dropFirst().first
        residentKiB = (pages.flatMap { Int($0) } ?? 0) * (sysconf(Int32(_SC_PAGESIZE)) / 1024)
        // One descriptor is that of the directory while it is read.
        descriptors = max(0, Self.entries("/proc/self/fd") - 1)
        threads = Self.entries("/proc/self/task")
    }

    /// Waits until the numbers of descriptors and threads have stayed the same for a while, twenty seconds at most: connections
    /// end up to two seconds after their report, and idle threads after five.
    static func settled() async -> ProcessState {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(20)
        var state = ProcessState()
        var changed = clock.now
        while clock.now < min(changed + .milliseconds(7000), deadline) {
            try? await Task.sleep(for: .milliseconds(20))
            let next = ProcessState()
            if next.descriptors != state.descriptors || next.threads != state.threads { changed = clock.now }
            state = next
        }
        return state
    }

    /// Prints the state as a line of JSON.
    func report(_ stage: String, after time: Duration = .zero, failed: Int = 0) {
        let format = #"{"stage":"%@","seconds":%.3f,"resident_kib":%d,"descriptors":%d,"threads":%d,"failed":%d}"#
        output(String(format: format, stage as NSString, time.inSeconds, residentKiB, descriptors, threads, failed))
    }

    private static func entries(_ path: String) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: path).count) ?? 0
    }
}

/// Waits until the input of this process ends, and ignores what is in it.
func endOfInput() async {
    await withCheckedContinuation { continuation in
        Thread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            continuation.resume()
        }.start()
    }
}
