#if os(Linux)
import Foundation
import Glibc
import PusherChannels

/// A program in its own process, whose output can be read line by line. The process doesn't outlive this object.
package final class Command: Sendable {
    /// The end of a process: its exit status, or the signal that ended it.
    package enum End: Equatable, Sendable {
        case exit(Int32)
        case signal(Int32)
    }

    /// The error if a process couldn't be started, or didn't print the expected output.
    package struct Trouble: Error, CustomStringConvertible {
        package let description: String
    }

    package let output: Lines
    package let errors: Lines
    package let id: pid_t
    private let ended = Locked<End?>(nil)
    private let ending = Note<End>()

    /// Runs `pusher-channels`, which is built beside the tests, without the user's configuration file. Its time-out for responses
    /// is longer than any test, because response times depend on the machine.
    package convenience init(
        _ arguments: [String], environment: [String: String] = [:], input: String = "/dev/null", onTerminal: Bool = false
    ) throws {
        try self.init(
            program: try Self.program(), arguments,
            environment: ["PUSHER_CONFIG": "/dev/null", "PUSHER_TIMEOUT": "86400"].merging(environment) { $1 },
            input: input, onTerminal: onTerminal)
    }

    /// Returns the path of `pusher-channels`.
    package static func program() throws -> String {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("pusher-channels").path
    }

    package convenience init(_ arguments: String...) throws {
        try self.init(arguments)
    }

    /// - Parameters:
    ///   - environment: The variables to add to those of this process, or to replace them with.
    ///   - input: The file that its standard input is read from.
    ///   - onTerminal: Indicates whether the process writes to terminals: one for its output, one for its errors.
    package init(
        program: String, _ arguments: [String], environment: [String: String] = [:], input: String = "/dev/null",
        onTerminal: Bool = false
    ) throws {
        func ends() throws -> PipeEnds { onTerminal ? try .terminal() : try PipeEnds() }
        let (output, errors) = (try ends(), try ends())
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output.writing, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors.writing, STDERR_FILENO)
        try closeTheRest(&actions)
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        let merged = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var variables = merged.map { strdup("\($0)=\($1)") } + [nil]
        defer { variables.forEach { free($0) } }
        var id: pid_t = 0
        let result = posix_spawn(&id, program, &actions, nil, &words, &variables)
        close(output.writing)
        close(errors.writing)
        let child = id
        self.id = child
        self.output = Lines(of: output.reading)
        self.errors = Lines(of: errors.reading)
        guard result == 0 else { throw Trouble(description: "\(program): \(String(cString: strerror(result)))") }
        let thread = Thread { [ended, ending] in
            // The process stays a zombie and keeps its number until the lock is held, so `kill` can't hit another process.
            var info = siginfo_t()
            while waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            ending.send(
                ended.withLock { ended in
                    var status: Int32 = 0
                    waitpid(child, &status, 0)
                    let end: End = status & 0x7F == 0 ? .exit(status >> 8 & 0xFF) : .signal(status & 0x7F)
                    ended = end
                    return end
                })
        }
        thread.start()
    }

    deinit {
        signal(SIGKILL)
    }

    /// Sends a signal, if the process is still there.
    package func signal(_ number: Int32) {
        ended.withLock { ended in
            if ended == nil, id > 0 { _ = kill(id, number) }
        }
    }

    /// Waits until the process has ended, and returns how; nil if the waiting task was cancelled. Call this only once.
    package func end() async -> End? {
        await ending.next()
    }
}

/// The lines that a process writes, as they arrive.
package final class Lines: Sendable {
    private let note = Note<String>()
    private let seen = Locked<[String]>([])

    package init(of descriptor: Int32) {
        let thread = Thread { [note, seen] in
            let file = fdopen(descriptor, "r")
            var line: UnsafeMutablePointer<CChar>?
            var capacity = 0
            while let file, getline(&line, &capacity, file) > 0, let line {
                let text = String(cString: line).trimmingCharacters(in: .newlines)
                seen.withLock { $0.append(text) }
                note.send(text)
            }
            free(line)
            if let file { fclose(file) }
            note.finish()
        }
        thread.start()
    }

    /// All lines so far.
    package var all: [String] { seen.withLock { $0 } }

    /// Returns the next line; nil at the end.
    package func next() async -> String? {
        await note.next()
    }

    /// Takes lines up to one that contains this text, and returns it; throws an error that lists all lines if none does.
    @discardableResult
    package func next(containing text: String) async throws -> String {
        while let line = await next() {
            if line.contains(text) { return line }
        }
        throw Command.Trouble(description: "no line with \"\(text)\" in:\n" + all.joined(separator: "\n"))
    }

    /// Returns all lines, once the process has closed its end.
    package func toEnd() async -> [String] {
        while await next() != nil {}
        return all
    }
}

extension String {
    /// The line without the time of day that it begins with; if there is none, a text that says so.
    package var withoutTime: String {
        prefixMatch(of: #/[0-2]\d:[0-5]\d:[0-6]\d\.\d{3} /#).map { String(self[$0.range.upperBound...]) } ?? "no time: \(self)"
    }
}

/// Makes a child close the descriptors that other tests have open: an inherited socket stays open when its owner closes it.
private func closeTheRest(_ actions: inout posix_spawn_file_actions_t) throws {
    typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
    // In glibc since 2.34, but not exported by Swift's Glibc module.
    guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else {
        throw Command.Trouble(description: "no posix_spawn_file_actions_addclosefrom_np: glibc is older than 2.34")
    }
    guard unsafeBitCast(symbol, to: CloseFrom.self)(&actions, STDERR_FILENO + 1) == 0 else {
        throw Command.Trouble(description: "descriptors can't be closed in a child: \(errno)")
    }
}

/// The two ends of the channel that carries a process's output. They are sockets, because a pipe can't be made close-on-exec from
/// the start: a child that happens to be spawned meanwhile would hold it open.
private struct PipeEnds {
    let reading: Int32
    let writing: Int32

    init() throws {
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Command.Trouble(description: "no sockets for a process's output: \(errno)")
        }
        (reading, writing) = (ends[0], ends[1])
    }

    private init(reading: Int32, writing: Int32) {
        (self.reading, self.writing) = (reading, writing)
    }

    /// Returns the two sides of a pseudo-terminal.
    static func terminal() throws -> PipeEnds {
        // The requests that `unlockpt` and `ptsname` send to the kernel. Swift's Glibc module doesn't export these functions.
        let (unlock, askNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
        let reading = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (isLocked, number): (Int32, Int32) = (0, 0)
        guard reading >= 0, ioctl(reading, unlock, &isLocked) == 0, ioctl(reading, askNumber, &number) == 0 else {
            throw Command.Trouble(description: "no terminal for a process's output: \(errno)")
        }
        let writing = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard writing >= 0 else { throw Command.Trouble(description: "no terminal for a process's output: \(errno)") }
        return PipeEnds(reading: reading, writing: writing)
    }
}

extension Command {
    /// Starts a server, and returns it with its port once it listens.
    package static func server(
        _ options: String..., port: Int = 0, environment: [String: String] = [:]
    ) async throws -> (command: Command, port: Int) {
        let server = try Command(["serve", "--port", String(port)] + options, environment: environment)
        return (server, try await server.listeningPort())
    }

    /// Waits until a server listens, and returns its port.
    package func listeningPort() async throws -> Int {
        let line = try await output.next(containing: "listening on")
        guard let port = line.split(separator: ":").last.flatMap({ Int($0) }) else {
            throw Trouble(description: "no port in: \(line)")
        }
        return port
    }
}
#endif
