/// An error that is thrown when traffic can't be recorded to a file, or a file can't be used. Differences from the file are a
/// ``TrafficMismatch`` instead.
public struct TrafficError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of error, for code that depends on it.
    public enum Kind: Equatable, Sendable {
        /// Recording on a CI machine: the file would be lost, and the test would pass whatever it sent.
        case refusedOnCI
        /// Nothing was recorded. A file without entries would suit any test that does nothing.
        case nothingRecorded
        /// There is no file to validate against.
        case missingFile
        /// The file is there, but can't be read or isn't JSON.
        case unreadableFile
        /// The file is JSON, but something in it is invalid; `path` says where.
        case malformedFile(path: String)
        /// A pattern in the file is invalid; `path` says where.
        case badPattern(path: String)
        /// The file can't be written.
        case unwritableFile
    }

    /// The kind of error.
    public let kind: Kind
    /// A description of the problem and its solution, for people. It shows no value of the traffic.
    public let message: String

    /// The message.
    public var description: String { message }
}
