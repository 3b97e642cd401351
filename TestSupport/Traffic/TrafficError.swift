/// The reason why traffic could not be recorded to a file or a file not be used; what differs is a ``TrafficMismatch`` instead.
public struct TrafficError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The sort of error, for code that decides by it.
    public enum Kind: Equatable, Sendable {
        /// Recording on a CI machine: the file would be lost, and the test would pass whatever it sent.
        case refusedOnCI
        /// Nothing was recorded: a file without entries would be like any test that does nothing.
        case nothingRecorded
        /// There is no file to validate against.
        case missingFile
        /// The file is there, but can't be read or is no JSON.
        case unreadableFile
        /// The file is JSON, but something in it can't be meant; `path` says where.
        case malformedFile(path: String)
        /// A pattern in the file is none; `path` says where.
        case badPattern(path: String)
        /// The file can't be written.
        case unwritableFile
    }

    /// The sort of error.
    public let kind: Kind
    /// The description of what happened and what to do, for a person. Shows no value of the traffic.
    public let message: String

    /// The message.
    public var description: String { message }
}
