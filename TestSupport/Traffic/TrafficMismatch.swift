/// The differences between traffic and its file: the error that a validator throws.
///
/// The description is meant for the file's author, line by line; it shows no secret that the recorder's redaction knows.
public struct TrafficMismatch: Error, Equatable, Sendable, CustomStringConvertible {
    /// A value that differs from the file's.
    public struct Field: Equatable, Sendable {
        /// The place in the entry: `body.items[2].name`.
        public let path: String
        /// The value that the file asks for, in words or as JSON.
        public let expected: String
        /// The value that the traffic has, as JSON; `nothing` if it has none.
        public let got: String
        /// The likely reason.
        public let note: String?

        /// Creates a field, for validators of your own.
        public init(path: String, expected: String, got: String, note: String? = nil) {
            self.path = path
            self.expected = expected
            self.got = got
            self.note = note
        }
    }

    /// One difference. Positions count from 1.
    public enum Difference: Equatable, Sendable {
        /// The traffic has an entry similar to the file's at `position`, but not the same.
        case mismatched(position: Int, entry: String, fields: [Field])
        /// The traffic has nothing like the file's entry at `position`.
        case missing(position: Int, entry: String)
        /// The traffic has an entry at `position` that the file doesn't have.
        case unexpected(position: Int, entry: String)
        /// The traffic has the file's entry at `position`, but out of order: it came at `came`.
        case moved(position: Int, entry: String, came: Int)
    }

    /// The differences, in the file's order, followed by entries that the file doesn't have, in the traffic's order.
    public let differences: [Difference]
    /// The file, if there is one.
    public internal(set) var file: String?

    /// Creates a mismatch, for validators of your own.
    public init(_ differences: [Difference]) {
        self.differences = differences
    }

    /// All differences, each with what was expected and what came.
    public var description: String {
        let count = differences.count == 1 ? "1 difference" : "\(differences.count) differences"
        let heading = "The traffic is not what \(file ?? "the file") says: \(count)."
        return ([heading] + differences.map(Self.describe)).joined(separator: "\n\n")
    }

    private static func describe(_ difference: Difference) -> String {
        switch difference {
        case .mismatched(let position, let entry, let fields):
            (["Entry \(position), \(entry)"] + fields.map(describe)).joined(separator: "\n")
        case .missing(let position, let entry):
            "Entry \(position), \(entry)\n  is missing in the traffic"
        case .unexpected(let position, let entry):
            "Number \(position) in the traffic, \(entry)\n  is not in the file"
        case .moved(let position, let entry, let came):
            "Entry \(position), \(entry)\n  came out of order, as number \(came)"
        }
    }

    private static func describe(_ field: Field) -> String {
        var lines = ["  \(field.path)", "    expected: \(field.expected)", "    got:      \(field.got)"]
        if let note = field.note { lines.append("    (\(note))") }
        return lines.joined(separator: "\n")
    }
}
