import Foundation
import PusherChannels

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Temporary files for programs that can't take text from memory. They are deleted when this object is deallocated.
final class TemporaryFiles: Sendable {
    private struct Content: Hashable {
        let kind: String
        let text: String
    }

    private let files = Locked<[Content: URL]>([:])

    deinit {
        for file in files.withLock({ $0 }).values { try? FileManager.default.removeItem(at: file) }
    }

    /// Returns a file with this text, the same one each time.
    ///
    /// - Parameters:
    ///   - kind: The beginning of the file's name.
    ///   - mode: The file's permissions, set when it is created.
    func file(_ kind: String, with text: String, mode: mode_t = 0o644) throws -> URL {
        try files.withLock { files in
            let content = Content(kind: kind, text: text)
            if let file = files[content] { return file }
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(kind)-\(UUID().uuidString).pem")
            let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
            guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: file.path]) }
            do {
                try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: Data(text.utf8))
            } catch {
                // The next call must not find a part of it.
                try? FileManager.default.removeItem(at: file)
                throw error
            }
            files[content] = file
            return file
        }
    }
}
