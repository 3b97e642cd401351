#if os(Linux)
import Foundation

/// Files that are replaced as Kubernetes replaces secrets: each is a link through another link, and only the latter changes.
final class RotatingFiles: Sendable {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent("rotating-\(UUID().uuidString)")

    /// - Parameter versions: The texts by name, the old version first. All have the same modification date, as unpacked files do.
    init(_ versions: [[String: String]]) throws {
        let manager = FileManager.default
        let age = [FileAttributeKey.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)]
        for (number, texts) in versions.enumerated() {
            let place = directory.appendingPathComponent("\(number)")
            try manager.createDirectory(at: place, withIntermediateDirectories: true)
            for (name, text) in texts {
                let file = place.appendingPathComponent(name)
                try text.write(to: file, atomically: false, encoding: .utf8)
                try manager.setAttributes(age, ofItemAtPath: file.path)
            }
        }
        for name in versions.first?.keys ?? [:].keys {
            try manager.createSymbolicLink(atPath: path(name), withDestinationPath: "data/\(name)")
        }
        try link(0)
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    /// Makes all names lead to the second version.
    func rotate() throws { try link(1) }

    private func link(_ version: Int) throws {
        try? FileManager.default.removeItem(atPath: path("data"))
        try FileManager.default.createSymbolicLink(atPath: path("data"), withDestinationPath: "\(version)")
    }
}
#endif
