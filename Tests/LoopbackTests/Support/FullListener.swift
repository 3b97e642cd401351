#if os(Linux)
import Glibc

/// A listener with a full queue that accepts no connection: clients that connect to it get no response.
final class FullListener: Sendable {
    let port: Int
    private let listener: Int32
    private let fillers: [Int32]

    init(address: String = "127.0.0.1", port: Int = 0) throws {
        let listener = Self.makeSocket()
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = UInt16(port).bigEndian
        inet_pton(AF_INET, address, &target.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        var fillers: [Int32] = []
        let listens = withUnsafeMutablePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                guard bind(listener, pointer, length) == 0, getsockname(listener, pointer, &length) == 0, listen(listener, 0) == 0
                else { return false }
                // One more than the queue has room for, so the queue is full when one of them has to wait.
                fillers = (0..<4).map { _ in
                    let filler = Self.makeSocket()
                    connect(filler, pointer, length)
                    return filler
                }
                return true
            }
        }
        self.listener = listener
        self.fillers = fillers
        self.port = Int(UInt16(bigEndian: target.sin_port))
        guard listens else { throw RawServer.Trouble.system("listen") }
    }

    deinit {
        for descriptor in fillers + [listener] { close(descriptor) }
    }

    private static func makeSocket() -> Int32 {
        socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }
}
#endif
