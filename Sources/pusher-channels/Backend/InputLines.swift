import Foundation
import PusherChannels

/// The lines of standard input, as they come.
struct InputLines {
    private var buffer: [UInt8] = []
    /// The place in the buffer up to which lines were taken.
    private var taken = 0
    private var isAtEnd = false
    private let stop = Pipe()

    /// What ends the lines with those that were read, also while somebody waits for the next; to be called once.
    var end: @Sendable () -> Void {
        let writing = stop.fileHandleForWriting
        return { try? writing.close() }
    }

    /// The next line without its end; nil at the end, and where it isn't there yet unless it is to be waited for.
    mutating func next(waits: Bool) throws -> String? {
        while true {
            if let end = buffer[taken...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { taken = end + 1 }
                return String(decoding: buffer[taken..<end], as: UTF8.self)
            }
            if isAtEnd {
                defer { taken = buffer.count }
                return taken < buffer.count ? String(decoding: buffer[taken...], as: UTF8.self) : nil
            }
            guard try fill(waits: waits) else { return nil }
        }
    }

    /// Reads what is there; returns false when there is nothing to wait for.
    private mutating func fill(waits: Bool) throws -> Bool {
        var polled = [STDIN_FILENO, stop.fileHandleForReading.fileDescriptor].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        while poll(&polled, 2, waits ? -1 : 0) < 0 {
            guard errno == EINTR else { throw Self.failure(errno) }
        }
        if polled[1].revents != 0 {
            // Half a line is none.
            (buffer, taken, isAtEnd) = ([], 0, true)
            return true
        }
        guard polled[0].revents != 0 else { return false }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        guard count >= 0 else {
            guard errno == EINTR || errno == EAGAIN else { throw Self.failure(errno) }
            return true
        }
        buffer.removeFirst(taken)
        taken = 0
        buffer += bytes[..<count]
        isAtEnd = count == 0
        return true
    }

    private static func failure(_ code: Int32) -> Failure {
        Failure("standard input can't be read: \(String(cString: strerror(code)))")
    }
}
