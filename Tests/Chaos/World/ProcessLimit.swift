import ArgumentParser
import Glibc
import Processes

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

/// A user whose threads can be limited, unlike root's.
enum OtherUser {
    /// The number of the user `nobody` on every system.
    private static let id: uid_t = 65_534

    /// Makes this whole process run as that user; returns false if it remains root's.
    static func become() -> Bool {
        guard geteuid() == 0 else { return true }
        return setgroups(0, nil) == 0 && setgid(id) == 0 && setuid(id) == 0
    }
}

/// A command that limits a client's threads, run as the client's user: only some root processes may limit those of another user's
/// process.
struct LimitThreads: ParsableCommand {
    /// The exit status if this process can't become that user.
    static let noUser: Int32 = 75

    static let configuration = CommandConfiguration(
        commandName: "limit-threads", abstract: "Let a process make no more threads, or as many as it likes.",
        shouldDisplay: false)

    @Option var process: pid_t
    @Flag var off = false

    func run() throws {
        guard OtherUser.become() else { throw ExitCode(Self.noUser) }
        // Uses the number of any other thread, because a thread's limit is the process's: the main thread ends when libdispatch
        // takes over, before it could become another user's. As there is already more than one thread, a limit of 1 allows no
        // further one.
        let threads = ProcessTables.threadNumbers(of: process).subtracting([process])
        guard threads.contains(where: { (try? ProcessLimit.threads.set(off ? nil : 1, of: $0)) != nil }) else {
            throw Trouble("no thread of \(process) lets its limit be set")
        }
    }
}
