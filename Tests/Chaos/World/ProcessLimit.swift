import Glibc

/// A limit on the system resources of another running process.
struct ProcessLimit: Sendable {
    /// Thrown when a limit could not be set.
    struct Refused: Error, CustomStringConvertible {
        let number: Int32
        var description: String { "a process's limit can't be set: \(String(cString: strerror(number)))" }
    }

    private typealias Call =
        @convention(c) (pid_t, Int32, UnsafePointer<rlimit>?, UnsafeMutablePointer<rlimit>?) -> Int32

    private let resource: Int32

    private init(_ resource: Int32) {
        self.resource = resource
    }

    /// The number of all threads of a user; root's are counted, but not limited.
    static let threads = ProcessLimit(Int32(__RLIMIT_NPROC.rawValue))
    /// The lowest number that a descriptor may not have.
    static let descriptors = ProcessLimit(Int32(RLIMIT_NOFILE.rawValue))
    /// The size of the address space in bytes.
    static let memory = ProcessLimit(Int32(RLIMIT_AS.rawValue))

    /// Sets the limit; nil sets the maximum.
    func set(_ value: Int?, of process: pid_t) throws {
        var limit = rlimit()
        try call(process, nil, &limit)
        limit.rlim_cur = value.map { min(rlim_t($0), limit.rlim_max) } ?? limit.rlim_max
        try call(process, &limit, nil)
    }

    private func call(_ process: pid_t, _ new: UnsafePointer<rlimit>?, _ old: UnsafeMutablePointer<rlimit>?) throws {
        // Swift's Glibc module doesn't export it.
        guard let symbol = dlsym(nil, "prlimit") else { throw Refused(number: ENOSYS) }
        guard unsafeBitCast(symbol, to: Call.self)(process, resource, new, old) == 0 else { throw Refused(number: errno) }
    }
}
