import Foundation
import PusherChannels

/// The lines of standard input, as they arrive.
struct InputLines {
    /// The maximum number of bytes in a line: many times what servers accept for an event.
    private static let limit = 1 << 20

    /// The number of the last line that was taken.
    private(set) var number = 0
    private var buffer: [UInt8] = []
    /// The position in the buffer up to which lines were taken.
    private var taken = 0
    /// The position in the buffer up to which the end of the next line was searched for, so no byte is looked at twice.
    private var searched = 0
    private var isAtEnd = false
    private let stop = Pipe()

    /// A function that ends the lines after those that were read, even while a caller waits for the next. Call it once only.
    var end: @Sendable () -> Void {
        let writing = stop.fileHandleForWriting
        return { try? writing.close() }
    }

    /// Returns the next line without its line break; `nil` at the end, or if the line isn't there yet and `waits` is `false`.
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

    /// Takes the searched bytes as a line.
    private mutating func line() throws -> String {
        var bytes = buffer[taken..<searched]
        number += 1
        // Some editors put a mark at the beginning of a file.
        if number == 1, bytes.starts(with: "\u{FEFF}".utf8) { bytes = bytes.dropFirst(3) }
        taken = min(searched + 1, buffer.count)
        searched = taken
        // A repaired text would be published as a different one.
        guard let line = String(validating: bytes, as: UTF8.self) else { throw Failure("line \(number) isn't UTF-8") }
        return line
    }

    /// Reads the input that is there; returns `false` if there is none yet.
    private mutating func fill(waits: Bool) throws -> Bool {
        var polled = [STDIN_FILENO, stop.fileHandleForReading.fileDescriptor].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        while poll(&polled, 2, waits ? -1 : 0) < 0 {
            guard errno == EINTR else { throw Self.failure(errno) }
        }
        if polled[1].revents != 0 {
            // Half a line doesn't count.
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
