#if os(Linux)
import Foundation
import Glibc

/// Looks up a process's resources in the system: this process's, if none is named.
package enum ProcessTables {
    /// Returns the number of descriptors that are sockets connected to a port.
    package static func connections(toPort port: Int) -> Int { descriptors(connectedTo: port).count }

    /// Returns the sockets that are connected to a port.
    package static func descriptors(connectedTo port: Int) -> [Int32] {
        descriptors.filter { self.port(getpeername, $0) == port }
    }

    /// Limits the system's buffers to half a megabyte for each end of the connections at a port, in each direction. By default,
    /// the system finds out how much makes a connection fast: many megabytes.
    package static func limitBuffers(ofPort port: Int) {
        for descriptor in descriptors
        where self.port(getpeername, descriptor) == port || self.port(getsockname, descriptor) == port {
            // The system doubles the value that it gets.
            var size: Int32 = 1 << 18
            for option in [SO_SNDBUF, SO_RCVBUF] {
                setsockopt(descriptor, SOL_SOCKET, option, &size, socklen_t(MemoryLayout<Int32>.size))
            }
        }
    }

    /// All sockets, by numbers that the system gives to no other socket. A port doesn't identify a socket: it may be the local
    /// port of many connections.
    package static var sockets: Set<UInt64> { numbers(of: descriptors) }

    /// Returns the sockets that listen at a port, and those that they accepted.
    package static func sockets(atPort port: Int) -> Set<UInt64> { numbers(of: descriptors(at: port)) }

    package static func descriptors(at port: Int) -> [Int32] { descriptors.filter { self.port(getsockname, $0) == port } }

    /// Returns the sockets that listen at a port.
    package static func descriptors(listeningAt port: Int) -> [Int32] {
        descriptors(at: port).filter { descriptor in
            var isListening: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length)
            return isListening != 0
        }
    }

    private static func numbers(of descriptors: [Int32]) -> Set<UInt64> {
        Set(
            descriptors.compactMap { descriptor in
                var status = stat()
                guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
                return UInt64(status.st_ino)
            })
    }

    /// Returns the number of sockets at a port that delay small segments, as TCP does unless told otherwise (RFC 896).
    package static func delayingSockets(atPort port: Int) -> Int {
        descriptors.count { descriptor in
            var isOn: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, &length)
            return self.port(getsockname, descriptor) == port && isOn == 0
        }
    }

    private static var descriptors: [Int32] { entries(of: "/proc/self/fd").compactMap { Int32($0) } }

    private static func port(
        _ ask: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32, _ descriptor: Int32
    ) -> Int? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let found = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(descriptor, $0, &length) }
        }
        guard found == 0, address.sin_family == sa_family_t(AF_INET) else { return nil }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Returns the number of threads with a name, or fewer: the kernel's list can miss some while others end.
    package static func threads(named name: String) -> Int {
        entries(of: "/proc/self/task").count { thread in
            let comm = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)
            return comm?.trimmingCharacters(in: .newlines) == name
        }
    }

    /// The state of a thread of this process, as the system reports it.
    package struct ThreadState: Equatable, Sendable {
        /// Indicates whether the thread waits for something. One in a busy loop never does, even while others keep it from
        /// running.
        package let isAsleep: Bool
        /// The number of times that the thread went to sleep or was preempted.
        package let switches: Int
    }

    /// The number of the calling thread.
    package static var currentThread: String? {
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        return path?.split(separator: "/").last.map(String.init)
    }

    package static func state(ofThread thread: String) throws -> ThreadState {
        var fields: [Substring: Substring] = [:]
        let status = try String(contentsOfFile: "/proc/self/task/\(thread)/status", encoding: .utf8)
        for line in status.split(separator: "\n") {
            let parts = line.split(maxSplits: 1) { $0 == ":" || $0 == "\t" }
            if parts.count == 2 { fields[parts[0]] = parts[1].drop { $0 == "\t" } }
        }
        func number(_ name: Substring) -> Int { fields[name].flatMap { Int($0) } ?? 0 }
        return ThreadState(
            isAsleep: fields["State"]?.first == "S",
            switches: number("voluntary_ctxt_switches") + number("nonvoluntary_ctxt_switches"))
    }

    /// Returns the number of threads that another process has.
    package static func threads(of process: pid_t) -> Int { numbers(in: "/proc/\(process)/task") }

    /// Returns the threads of another process.
    package static func threadNumbers(of process: pid_t) -> Set<pid_t> {
        Set(entries(of: "/proc/\(process)/task").compactMap { pid_t($0) })
    }

    /// Returns the number of descriptors that another process has.
    package static func descriptors(of process: pid_t) -> Int { numbers(in: "/proc/\(process)/fd") }

    /// Returns the descriptors of another process that aren't sockets, and the first three, whatever those are.
    package static func descriptorsBesideSockets(of process: pid_t) -> Set<Int32> {
        let folder = "/proc/\(process)/fd"
        return Set(
            entries(of: folder).compactMap { Int32($0) }.filter { descriptor in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(descriptor)")
                return descriptor <= STDERR_FILENO || target?.hasPrefix("socket:") == false
            })
    }

    /// Returns the processor time that another process has taken so far, to the hundredth of a second.
    package static func processorTime(of process: pid_t) throws -> Duration {
        let line = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        // The name, which comes before in parentheses, may have spaces. Then the 12th and 13th are the program's and the system's time.
        let fields = line.split(separator: ")").last?.split(separator: " ") ?? []
        let ticks = fields.dropFirst(11).prefix(2).compactMap { Int($0) }.reduce(0, +)
        return .milliseconds(ticks * 1000 / sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Returns the resident memory of another process in kilobytes: the current amount, or the maximum so far.
    package static func residentMemory(of process: pid_t, atMost: Bool) throws -> Int? {
        try memory(of: process, atMost ? "VmHWM:" : "VmRSS:")
    }

    /// Returns the size of another process's address space in kilobytes.
    package static func virtualMemory(of process: pid_t) throws -> Int? {
        try memory(of: process, "VmSize:")
    }

    private static func memory(of process: pid_t, _ name: String) throws -> Int? {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }

    private static func numbers(in path: String) -> Int {
        entries(of: path).count { Int($0) != nil }
    }

    /// Returns the names in a folder. Doesn't use `FileManager`, whose listing fails if one entry goes away meanwhile.
    private static func entries(of path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory), let offset = MemoryLayout<dirent>.offset(of: \.d_name) {
            // Reads the name in place: an entry ends with its name, and is shorter than its type.
            names.append(String(cString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self)))
        }
        return names
    }
}
#endif
