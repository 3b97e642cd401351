#if os(Linux)
import Foundation
import Glibc
import Testing

/// A pipe with a name, for a process to open its other end.
final class NamedPipe: Sendable {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("pipe-\(UUID())").path
    private let descriptor: Int32

    /// - Parameter flags: Which end the test has. With both, whoever opens the other doesn't wait.
    init(_ flags: Int32) throws {
        try #require(mkfifo(path, 0o600) == 0)
        descriptor = open(path, flags | O_CLOEXEC)
        try #require(descriptor >= 0)
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// At once: it is far less than a pipe holds.
    func write(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    }
}
#endif
