import Foundation
import PusherChannels

/// The lines of standard input, as they come.
struct InputLines {
    /// The most bytes of a line: many times what servers take of an event.
    private static let limit = 1 << 20

    /// The number of the line that was taken last.
    private(set) var number = 0
    private var buffer: [UInt8] = []
    /// The place in the buffer up to which lines were taken.
    private var taken = 0
    /// The place in the buffer up to which the end of the next line was looked for, so that no byte is looked at twice.
    private var searched = 0
    private var isAtEnd = false
    private let stop = Pipe()

    /// Ends the lines after those that were read, also while somebody waits for the next; to be called once.
    var end: @Sendable () -> Void {
        let writing = stop.fileHandleForWriting
        return { try? writing.close() }
    }

    /// The next line without its end; nil at the end, and where it isn't there yet unless it is to be waited for.
    mutating func next(waits: Bool) throws -> String? {
        while true {
            let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n"))
            searched = end ?? buffer.count
            guard searched - taken <= Self.limit else { throw Failure("line \(number + 1) has more than \(Self.limit) bytes") }
            if end != nil || isAtEnd && taken < searched { return try line() }
            if isAtEnd { return nil }
            guard try fill(waits: waits) else { return nil }
        }
    }

    /// Takes what was searched as a line.
    private mutating func line() throws -> String {
        let bytes = buffer[taken..<searched]
        number += 1
        taken = min(searched + 1, buffer.count)
        searched = taken
        // A text that was mended would be published as another one.
        guard let line = String(validating: bytes, as: UTF8.self) else { throw Failure("line \(number) is no UTF-8") }
        return line
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
            (buffer, taken, searched, isAtEnd) = ([], 0, 0, true)
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
        searched -= taken
        taken = 0
        buffer += bytes[..<count]
        isAtEnd = count == 0
        return true
    }

    private static func failure(_ code: Int32) -> Failure {
        Failure("standard input can't be read: \(String(cString: strerror(code)))")
    }
}
