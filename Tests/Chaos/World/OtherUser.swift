import ArgumentParser
import Glibc
import Processes

/// A user whose threads can be limited: root's can't.
enum OtherUser {
    /// Nobody's number everywhere.
    private static let id: uid_t = 65_534

    /// Has all of this process be that user's; false where it stays root's.
    static func become() -> Bool {
        guard geteuid() == 0 else { return true }
        return setgroups(0, nil) == 0 && setgid(id) == 0 && setuid(id) == 0
    }
}

/// Limits the threads of a client as the user whose it is: of another's processes only some of root's may.
struct LimitThreads: ParsableCommand {
    /// That there is no such user here.
    static let noUser: Int32 = 75

    static let configuration = CommandConfiguration(
        commandName: "limit-threads", abstract: "Let a process make no more threads, or as many as it likes.",
        shouldDisplay: false)

    @Option var process: pid_t
    @Flag var off = false

    func run() throws {
        guard OtherUser.become() else { throw ExitCode(Self.noUser) }
        // By any of its threads, whose limit is the process's: the main thread ends when libdispatch takes over, before it could become
        // another user's. There is more than one, and so can be no other.
        let threads = ProcessTables.threadNumbers(of: process).subtracting([process])
        guard threads.contains(where: { (try? ProcessLimit.threads.set(off ? nil : 1, of: $0)) != nil }) else {
            throw Trouble("no thread of \(process) lets its limit be set")
        }
    }
}
