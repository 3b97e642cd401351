#if os(Linux)
import Glibc
import PusherChannels
@testable import TestSupport

/// Two sockets, each of which gets the other's bytes, and the same kind of end: FIN as FIN, RST as RST.
struct Tunnel {
    /// The way in which the two sockets are to be closed.
    enum End {
        case closed, reset
    }

    private struct Side {
        let descriptor: Int32
        /// The bytes that haven't been sent to this side yet.
        var queue = ByteQueue()
        /// These indicate whether this side's FIN has arrived, and whether it was sent one.
        var hasEnded = false
        var hasFinished = false
    }

    /// The number of bytes that may wait for one side before the other is no longer read.
    private static let bufferLimit = 256 << 10
    private var sides: [Side]

    init(_ one: Int32, _ other: Int32) {
        sides = [Side(descriptor: one), Side(descriptor: other)]
        for side in sides { _ = fcntl(side.descriptor, F_SETFL, fcntl(side.descriptor, F_GETFL) | O_NONBLOCK) }
    }

    /// Returns once both sides have sent everything, or either is gone.
    mutating func run() -> End {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            for index in sides.indices where !receive(from: index, into: buffer) { return .reset }
            for index in sides.indices where !send(to: index) { return .reset }
            if sides.allSatisfy(\.hasFinished) { return .closed }
            if wait() == .reset { return .reset }
        }
    }

    private func isReading(_ index: Int) -> Bool {
        !sides[index].hasEnded && sides[1 - index].queue.count < Self.bufferLimit
    }

    private mutating func receive(from index: Int, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        guard isReading(index) else { return true }
        switch Sockets.receive(sides[index].descriptor, into: buffer) {
        case .bytes(let count): sides[1 - index].queue.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        case .nothingYet: break
        case .end: sides[index].hasEnded = true
        case .reset: return false
        }
        return true
    }

    private mutating func send(to index: Int) -> Bool {
        while !sides[index].queue.isEmpty {
            switch Sockets.send(sides[index].descriptor, &sides[index].queue) {
            case .bytes: continue
            case .notYet: return true
            case .broken: return false
            }
        }
        if sides[1 - index].hasEnded, !sides[index].hasFinished {
            sides[index].hasFinished = true
            Sockets.finish(sides[index].descriptor)
        }
        return true
    }

    /// Waits for something to do. Also watches a side that is neither read from nor sent to, because it may be reset, but not
    /// once it was sent FIN: its own unread FIN would look the same.
    private func wait() -> End? {
        var polled = sides.indices.map { index in
            let events = (isReading(index) ? POLLIN : 0) | (sides[index].queue.isEmpty ? 0 : POLLOUT)
            let isIgnored = events == 0 && sides[index].hasFinished
            return pollfd(fd: isIgnored ? -1 : sides[index].descriptor, events: Int16(events), revents: 0)
        }
        poll(&polled, nfds_t(polled.count), -1)
        let isGone = sides.indices.contains { !isReading($0) && polled[$0].revents & Int16(POLLERR | POLLHUP) != 0 }
        return isGone ? .reset : nil
    }
}
#endif
