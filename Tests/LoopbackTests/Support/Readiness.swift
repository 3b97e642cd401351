#if os(Linux)
import PusherChannels
import Foundation
import Testing
import Glibc
import TestSupport

/// A condition of a descriptor, as the system reports it.
enum Readiness {
    case readable, writable, gone

    /// Returns whether the condition holds now.
    func holds(for descriptor: Int32) -> Bool { look(at: descriptor, milliseconds: 0) }

    /// Returns when the condition holds; `false` if that takes too long.
    func wait(for descriptor: Int32) -> Bool { look(at: descriptor, milliseconds: 1000 * Int32(Patience.seconds)) }

    private func look(at descriptor: Int32, milliseconds: Int32) -> Bool {
        let events =
            switch self {
            case .readable: Int16(POLLIN)
            case .writable: Int16(POLLOUT)
            // Reported in any case.
            case .gone: Int16(0)
            }
        let sought = self == .gone ? Int16(POLLERR | POLLHUP) : events
        var polled = pollfd(fd: descriptor, events: events, revents: 0)
        return poll(&polled, 1, milliseconds) == 1 && polled.revents & sought != 0
    }
}

/// A named pipe whose other end a process opens.
final class NamedPipe: Sendable {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("pipe-\(UUID())").path
    private let descriptor: Int32

    /// - Parameter flags: The end that the test opens. If it opens both, opening the other end doesn't wait.
    init(_ flags: Int32) throws {
        try #require(mkfifo(path, 0o600) == 0)
        descriptor = open(path, flags | O_CLOEXEC)
        try #require(descriptor >= 0)
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// Writes without waiting, because the text is far smaller than a pipe's capacity.
    func write(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    }
}

extension ConnectionTimeouts {
    /// Time-outs for tests that aren't about time-outs: a busy machine may take any amount of time.
    static let patient = ConnectionTimeouts(open: day, establish: day, pong: day, authorization: day, subscription: day)
}

extension PusherHTTPAPIOptions {
    /// Options for tests that aren't about response times.
    static let patient = PusherHTTPAPIOptions(timeout: day)
}

private let day = Duration.seconds(86_400)
#endif
