import Foundation
import PusherChannels

/// A traffic file: an array of entries as JSON.
enum TrafficDocument {
    /// The fields of an entry about a request. A frame has whatever members its message has.
    private static let fields: Set<String> = ["url", "method", "parameters", "headers", "body", "status"]

    /// Returns the entries as a new file's text, with only the given header fields (in lower case).
    static func text(of entries: [TrafficEntry], headers: Set<String>) -> String {
        text(of: entries.map { members(of: $0, headers: headers) })
    }

    /// Returns the entries' members as a file's text.
    static func text(of entries: [[Name: JSONValue]]) -> String {
        JSONValue.array(entries.map { .object($0) }).prettyText + "\n"
    }

    /// Returns the members of a recorded entry as they are written to a new file.
    static func members(of entry: TrafficEntry, headers: Set<String>) -> [Name: JSONValue] {
        var members = Dictionary(uniqueKeysWithValues: entry.members.map { ($0, written($1, of: $0)) })
        if !entry.isFrame, let all = members["headers"]?.objectValue {
            let wanted = all.filter { headers.contains($0.key.text) }
            members["headers"] = wanted.isEmpty ? nil : .object(wanted)
        }
        return members
    }

    /// Returns a value of the traffic as it is written to a file. `name` is the name of the value's member.
    static func written(_ value: JSONValue, of name: Name? = nil) -> JSONValue {
        ValueMatcher.escape(LocalAddress.normalize(value), of: name)
    }

    /// Reads and checks a file's text. Secrets in it are hidden.
    static func entries(in text: String, of file: String, redaction: Redaction) throws(TrafficError) -> [TrafficEntry] {
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONValue(parsing: text)
        } catch {
            let line = text.utf8.prefix(error.offset).count { $0 == UInt8(ascii: "\n") } + 1
            throw TrafficError(kind: .unreadableFile, message: "\(file), line \(line), is no JSON: \(error.problem)")
        }
        guard case .array(let values) = document else {
            throw TrafficError(kind: .malformedFile(path: ""), message: "\(file) should hold an array of entries: [{…}, {…}]")
        }
        var entries: [TrafficEntry] = []
        for (index, value) in values.enumerated() {
            try check(value, at: "[\(index)]", file: file, redaction: redaction)
            guard case .object(let members) = redaction.redact(value, keepsMatchers: true) else {
                throw malformed("an entry is an object: {…}", at: "[\(index)]", file: file)
            }
            let entry = TrafficEntry(members: members)
            if !entry.isFrame, let stranger = members.keys.sorted().first(where: { !fields.contains($0.text) }) {
                let known = fields.sorted().joined(separator: ", ")
                throw malformed("a request has no field like this; there are \(known)", at: "[\(index)].\(stranger)", file: file)
            }
            entries.append(entry)
        }
        return entries
    }

    // MARK: Checking

    /// - Parameter parent: The name that says whether the value is a secret.
    private static func check(
        _ value: JSONValue, named parent: String? = nil, at path: String, file: String, redaction: Redaction
    ) throws(TrafficError) {
        let matcher: ValueMatcher?
        do throws(ValueMatcher.Misuse) {
            matcher = try ValueMatcher(value)
        } catch {
            throw malformed(error.problem, at: path, file: file)
        }
        switch (matcher, value) {
        case (.regex?, _) where redaction.hides(parent), (.unordered?, _) where redaction.hides(parent):
            // Hidden, it would match any value, which isn't what its author meant.
            let shown = (parent ?? "").quotedJSON
            let problem =
                "the redaction hides this value, so it takes \"\(Redaction.marker)\", $any, $type or $absent; "
                + "`redaction: .standard.showing(names: [\(shown)])` shows it"
            throw malformed(problem, at: path, file: file)
        case (.regex(let pattern)?, _):
            guard Patterns().isPattern(pattern) else {
                let message = "\(file): the $regex at \(path) is no regular expression"
                throw TrafficError(kind: .badPattern(path: path), message: message)
            }
        case (.unordered(let elements)?, _):
            for (index, element) in elements.enumerated() {
                try check(element, at: "\(path).$unordered[\(index)]", file: file, redaction: redaction)
            }
        case (.some, _):
            break
        case (nil, .array(let elements)):
            for (index, element) in elements.enumerated() {
                let hidden = redaction.hides(parent) ? parent : nil
                try check(element, named: hidden, at: "\(path)[\(index)]", file: file, redaction: redaction)
            }
        case (nil, .object(let members)):
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                let valueName = redaction.hides(parent) ? parent : redaction.nameOfValue(name.text, in: members)
                try check(member, named: valueName, at: Comparison.path(path, name.text), file: file, redaction: redaction)
            }
        case (nil, _):
            break
        }
    }

    private static func malformed(_ problem: String, at path: String, file: String) -> TrafficError {
        TrafficError(kind: .malformedFile(path: path), message: "\(file), at \(path): \(problem)")
    }
}
