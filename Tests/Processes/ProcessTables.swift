#if os(Linux)
import Foundation
import Glibc

/// What the system says a process has: this one, where none is named.
package enum ProcessTables {
    /// How many descriptors are sockets connected to a port.
    package static func connections(toPort port: Int) -> Int { localPorts(connectedTo: port).count }

    /// The own ports of the sockets that are connected to a port.
    package static func localPorts(connectedTo port: Int) -> [Int] {
        descriptors.filter { self.port(getpeername, $0) == port }.compactMap { self.port(getsockname, $0) }
    }

    /// How many descriptors are sockets at a port, listening, connected, or no longer so.
    package static func sockets(atPort port: Int) -> Int { descriptors.count { self.port(getsockname, $0) == port } }

    /// How many of those collect what they send, as TCP does unless told otherwise (RFC 896).
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

    /// How many threads have a name, or fewer: the kernel's list can miss some while others end.
    package static func threads(named name: String) -> Int {
        entries(of: "/proc/self/task").count { thread in
            let comm = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)
            return comm?.trimmingCharacters(in: .newlines) == name
        }
    }

    /// How many threads another process has.
    package static func threads(of process: pid_t) -> Int { numbers(in: "/proc/\(process)/task") }

    /// How many descriptors another process has.
    package static func descriptors(of process: pid_t) -> Int { numbers(in: "/proc/\(process)/fd") }

    /// How much memory another process has resident in kilobytes, or had at most.
    package static func residentMemory(of process: pid_t, atMost: Bool) throws -> Int? {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(atMost ? "VmHWM:" : "VmRSS:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }

    private static func numbers(in path: String) -> Int {
        entries(of: path).count { Int($0) != nil }
    }

    /// Not `FileManager`'s listing, which fails altogether when one entry goes away while it looks.
    private static func entries(of path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory), let offset = MemoryLayout<dirent>.offset(of: \.d_name) {
            // Where it lies: an entry ends with its name, and is shorter than its type.
            names.append(String(cString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self)))
        }
        return names
    }
}
#endif
