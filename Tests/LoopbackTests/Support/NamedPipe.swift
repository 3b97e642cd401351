#if os(Linux)
import Foundation
import Glibc
import Testing

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
#endif
