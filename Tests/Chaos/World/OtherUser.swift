import ArgumentParser
import Glibc
import Processes

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
