import Foundation
import Glibc
import Processes
import PusherChannels

extension Site {
    /// Prevents the client from creating threads, or allows it again.
    func setThreads(enough: Bool) async throws {
        let arguments = ["limit-threads", "--process", "\(client.id)"] + (enough ? ["--off"] : [])
        let command = try Command(program: try Command.own(), arguments)
        switch await command.end() {
        case .exit(0): break
        case .exit(LimitThreads.noUser):
            throw Skipped("this is root's, whose threads have no limit, and it can't become another user here")
        case let end: throw Trouble("the threads were not limited: \(end.map { "\($0)" } ?? "?"), \(command.errors.all)")
        }
    }

    /// Leaves the client `free` descriptors beside those that it always has open, its connections not included.
    func setDescriptors(free: Int) throws {
        // Descriptors that the client opens only for a moment aren't in all twenty samples.
        let used = (0..<20).map { _ in ProcessTables.descriptorsBesideSockets(of: client.id) }.reduce(nil) { common, numbers in
            common?.intersection(numbers) ?? numbers
        }
        guard let used, !used.isEmpty else { throw unseen("the client's descriptors") }
        let unused = (0...Int32.max).lazy.filter { !used.contains($0) }
        guard let limit = unused.dropFirst(free).first else { return }
        try ProcessLimit.descriptors.set(Int(limit), of: client.id)
    }

    /// Leaves the client `free` bytes beside those that it has.
    func setMemory(free: Int) throws {
        guard let size = try ProcessTables.virtualMemory(of: client.id) else { throw unseen("the client's size") }
        try ProcessLimit.memory.set(size * 1024 + free, of: client.id)
    }

    /// Returns the error for a value that can't be read: either this machine doesn't show it, or the client has ended, which is
    /// what the scenarios look for.
    private func unseen(_ what: String) -> any Error {
        kill(client.id, 0) == 0 || errno == EPERM ? Skipped("\(what) can't be seen here") : Trouble("the client has ended")
    }

    func lift(_ limit: ProcessLimit) throws {
        try limit.set(nil, of: client.id)
    }

    /// Waits until the client has reported `count` more errors of a kind, each of which ends an attempt.
    func clientFails(_ count: Int, as kind: String, since before: Int) async {
        await feed.wait { state in
            state.heard.dropFirst(before).count { if case .error(kind, _) = $0 { true } else { false } } >= count
        }
    }
}

/// The error of a scenario that needs something unavailable on this machine.
struct Skipped: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
