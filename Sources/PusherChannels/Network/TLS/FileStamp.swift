#if canImport(COpenSSL)
import Glibc

/// The properties that reveal whether a path now leads to another file, or to other content.
struct FileStamp: Equatable {
    private let device: dev_t
    private let number: ino_t
    private let size: off_t
    /// The bytes of the modification time, whose members can't be named in every configuration of the compiler.
    private let changed: [UInt8]

    /// Creates the stamp of the file at a path; `nil` if there is none. Follows symbolic links, because only one along the way
    /// may change, as with secrets that are mounted into containers.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, number, size) = (status.st_dev, status.st_ino, status.st_size)
        changed = withUnsafeBytes(of: &status.st_mtim) { Array($0) }
    }
}

extension TLSConfiguration {
    /// The stamps of all files from which a context is made.
    var stamps: [FileStamp?] { roots.stamps + [identity?.certificateChain, identity?.privateKey].map { $0?.stamp } }
}

extension TLSConfiguration.Roots {
    /// The stamps of the files that hold the authorities.
    var stamps: [FileStamp?] {
        switch self {
        case .system: [SystemRoots.stamp]
        case .only(let source): [source.stamp]
        case .systemAnd(let source): [SystemRoots.stamp, source.stamp]
        }
    }
}

extension PEMSource {
    fileprivate var stamp: FileStamp? {
        if case .file(let path) = self { FileStamp(path) } else { nil }
    }
}
#endif
