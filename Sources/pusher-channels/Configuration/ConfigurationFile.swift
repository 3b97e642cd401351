import Foundation
import PusherChannels

/// Settings in a file: one `name = value` per line, and comments that begin with `#`.
struct ConfigurationFile: Equatable, Sendable {
    /// The reason why a file can't be used. It repeats nothing from the file, because any part of that may be a secret.
    struct Problem: Error, Equatable, CustomStringConvertible {
        let description: String
    }

    let values: [Setting: String]

    init(values: [Setting: String]) {
        self.values = values
    }

    /// Reads the lines of a file.
    ///
    /// - Parameter name: The name of the file in messages.
    /// - Throws: A `Problem` that names the line.
    init(parsing bytes: Data, name: String) throws(Problem) {
        var values: [Setting: String] = [:]
        var lines: [Setting: Int] = [:]
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            func problem(_ text: String) -> Problem { Problem(description: "\(name):\(index + 1): \(text)") }
            guard let text = String(bytes: line, encoding: .utf8) else { throw problem("this isn't UTF-8") }
            // Editors for Windows begin a file with this byte order mark.
            let content = Self.withoutComment(index == 0 && text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text)
            if content.isEmpty { continue }
            let parts = content.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw problem("a line is: name = value") }
            let (left, value) = (parts[0].trimmingCharacters(in: .whitespaces), parts[1].trimmingCharacters(in: .whitespaces))
            guard let setting = Setting(rawValue: left) else {
                throw problem("there is no such name; the names are \(Setting.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            if let first = lines[setting] { throw problem("\(setting.rawValue) is on line \(first), too") }
            if value.isEmpty { throw problem("\(setting.rawValue) has no value") }
            if value.first == "\"" || value.first == "'" { throw problem("write the value without quotation marks") }
            if let requirement = setting.requirement(unmetBy: value) { throw problem("\(setting.rawValue) \(requirement)") }
            values[setting] = value
            lines[setting] = index + 1
            if let host = lines[.host], let cluster = lines[.cluster] {
                throw problem("give host or cluster, not both: the other is on line \(min(host, cluster))")
            }
        }
        self.values = values
    }

    /// Returns a line without its comment, which begins the line or follows a space, because an address may hold a `#`.
    private static func withoutComment(_ line: String) -> String {
        let scalars = line.unicodeScalars
        var end = scalars.endIndex
        var isAfterSpace = true
        for index in scalars.indices {
            if isAfterSpace, scalars[index] == "#" {
                end = index
                break
            }
            isAfterSpace = CharacterSet.whitespaces.contains(scalars[index])
        }
        return String(scalars[..<end]).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

extension ConfigurationFile {
    /// The maximum number of bytes in a file, which holds ten short lines.
    static let largestSize = 65_536

    /// Reads a file without blocking, neither for the writer of a pipe nor for the end of a device.
    static func read(_ path: String) -> Result<ConfigurationFile, Problem> {
        Result { () throws(Problem) in
            let name = path.onOneLine
            func problem(_ text: String) -> Problem { Problem(description: "\(name): \(text)") }
            func systemProblem() -> Problem { problem(String(cString: strerror(errno))) }
            let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
            guard descriptor >= 0 else { throw systemProblem() }
            defer { close(descriptor) }
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw systemProblem() }
            // Stands for no file at all.
            if path == "/dev/null" { return try ConfigurationFile(parsing: Data(), name: name) }
            guard status.st_mode & S_IFMT == S_IFREG else { throw problem("this isn't a regular file") }
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
            guard let bytes = try? handle.read(upToCount: largestSize + 1) ?? Data() else { throw systemProblem() }
            guard bytes.count <= largestSize else { throw problem("a configuration has at most \(largestSize) bytes") }
            let file = try ConfigurationFile(parsing: bytes, name: name)
            if let exposure = file.exposure(status) { note("warning: \(name) \(exposure)") }
            return file
        }
    }

    /// Returns what others can do with the file; `nil` if that is no danger. Whoever changes it chooses the server that gets what
    /// the secret signs.
    private func exposure(_ status: stat) -> String? {
        if ![geteuid(), 0].contains(status.st_uid) { return "belongs to another user, who can change it" }
        if status.st_mode & (S_IWGRP | S_IWOTH) != 0 { return "can be changed by others: chmod 600 makes it private" }
        let isReadable = status.st_mode & (S_IRGRP | S_IROTH) != 0
        guard isReadable, values.keys.contains(where: \.isSecret) else { return nil }
        return "contains a secret, and others can read it: chmod 600 makes it private"
    }
}
