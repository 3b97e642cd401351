#if canImport(CLibwebsockets)
import CLibwebsockets
import Glibc

/// The sockets through which contexts of libwebsockets follow the machine's routing tables.
///
/// Since 4.2, each context makes one, to close its connections whose route is gone; no option prevents that. The SDK's connections
/// aren't in the context's hands, so this is of no use here, and it does harm: at the 256th route, an assertion in 4.2 ends the
/// process, and 4.3.5 needs more than a minute of processor time for 40,000 routes. Programs that the process starts inherit the
/// socket, too.
enum RouteMonitors {
    /// Makes a context, and puts a socket that nobody sends to in the place of its route monitor, before that is ever read.
    ///
    /// - Returns: `nil` if there is no context, or if the process has no descriptor left.
    static func removed<Context>(from makeContext: () -> Context?) -> Context? {
        // Both are made first, because there may be no descriptor for them later.
        let silent = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard silent >= 0 else { return nil }
        defer { close(silent) }
        guard let directory = opendir("/proc/self/fd") else {
            // Without /proc, nobody can tell which one it is.
            // not a mutant: tests have /proc, and no process with exactly one descriptor left
            return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? nil : makeContext()
        }
        defer { closedir(directory) }
        let others = all(in: directory)
        guard let context = makeContext() else { return nil }
        for monitor in all(in: directory).subtracting(others) { clws_replace(monitor, silent) }
        return context
    }

    /// Returns the process's sockets of this kind, also those of other libraries.
    private static func all(in directory: OpaquePointer) -> Set<Int32> {
        var monitors: Set<Int32> = []
        rewinddir(directory)
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if let descriptor = Int32(name), followsRoutes(descriptor) { monitors.insert(descriptor) }
        }
        return monitors
    }

    /// Returns whether a descriptor is a netlink socket that is told of new routes.
    static func followsRoutes(_ descriptor: Int32) -> Bool {
        var address = sockaddr_nl()
        var length = socklen_t(MemoryLayout<sockaddr_nl>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
        }
        let routes = UInt32(RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE)
        return isKnown && Int32(address.nl_family) == AF_NETLINK && address.nl_groups & routes != 0
    }
}
#endif
