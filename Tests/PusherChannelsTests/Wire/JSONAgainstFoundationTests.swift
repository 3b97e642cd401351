import Foundation
import Testing

@testable import PusherChannels

/// The same documents through this package's JSON and Foundation's: both accept or both refuse, and mean the same.
///
/// Where they differ is listed, each case with its reason: ``JSONDocuments/foundationOnly``, ``JSONDocuments/hereOnly``, and
/// ``Difference``.
@Suite struct JSONAgainstFoundationTests {
    /// How the two may disagree.
    private enum Difference {
        /// Foundation takes UTF-16, UTF-32 and a byte order mark. The wire has UTF-8 alone; a NUL betrays the others.
        case encoding
        /// Foundation passes over a comma before a closing bracket; the grammar has none there.
        case trailingComma
        /// Foundation stops at 512 levels, this package at 128.
        case depth
        /// Foundation refuses half of a surrogate pair; here it is U+FFFD.
        case loneSurrogate
        /// Foundation refuses a number that no `Double` holds; here it is infinite.
        case infinity
    }

    private func foundation(_ bytes: [UInt8]) -> JSONValue? {
        (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)).flatMap(value)
    }

    private func value(_ any: Any) -> JSONValue? {
        switch any {
        case is NSNull: .null
        case let string as String: .string(string)
        case let number as NSNumber: self.number(number)
        case let array as [Any]: .array(array.compactMap(value))
        case let object as [String: Any]: .object(object.compactMapValues(value))
        default: nil
        }
    }

    private func number(_ number: NSNumber) -> JSONValue {
        switch String(cString: number.objCType) {
        case "c": .bool(number.boolValue)
        case "d": .double(number.doubleValue)
        default: Int(number.description).map { .integer($0) } ?? .double(number.doubleValue)
        }
    }

    /// Equal, with doubles compared to twelve digits: Foundation reads numbers of many digits as decimals and rounds them anew.
    private func isSame(_ left: JSONValue, _ right: JSONValue) -> Bool {
        switch (left, right) {
        case (.double(let left), .double(let right)): isClose(left, right)
        case (.integer(let left), .double(let right)): isClose(Double(left), right)
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy(isSame)
        case (.object(let left), .object(let right)):
            left.count == right.count && left.allSatisfy { key, value in right[key].map { isSame(value, $0) } ?? false }
        default:
            left == right
        }
    }

    private func isClose(_ left: Double, _ right: Double) -> Bool {
        abs(left - right) <= 1e-12 * max(abs(left), abs(right))
    }

    private func parse(_ bytes: [UInt8]) -> Result<JSONValue, JSONError> {
        do throws(JSONError) {
            return .success(try JSONValue(parsing: String(decoding: bytes, as: UTF8.self)))
        } catch {
            return .failure(error)
        }
    }

    private func difference(accepted value: JSONValue) -> Difference? {
        if contains(value, where: { if case .double(let double) = $0 { !double.isFinite } else { false } }) { return .infinity }
        return value.text.contains("\u{FFFD}") ? .loneSurrogate : nil
    }

    private func contains(_ value: JSONValue, where isWanted: (JSONValue) -> Bool) -> Bool {
        switch value {
        case .array(let elements): elements.contains { contains($0, where: isWanted) }
        case .object(let members): members.values.contains { contains($0, where: isWanted) }
        default: isWanted(value)
        }
    }

    private func difference(refused error: JSONError, _ bytes: [UInt8]) -> Difference? {
        if bytes.contains(0) || bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return .encoding }
        if error.problem == "nested too deeply" { return .depth }
        let before = bytes.prefix(error.offset).last { !" \t\r\n".utf8.contains($0) }
        let closes = bytes.dropFirst(error.offset).first.map { "]}".utf8.contains($0) } ?? false
        return before == UInt8(ascii: ",") && closes ? .trailingComma : nil
    }

    /// What the two disagree about without a reason; nil when nothing.
    private func disagreement(about bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self).debugDescription
        switch (parse(bytes), foundation(bytes)) {
        case (.success(let ours), let theirs?):
            return isSame(ours, theirs) ? nil : "\(text) is \(ours) here and \(theirs) there"
        case (.success(let ours), nil):
            return difference(accepted: ours) == nil ? "\(text) is accepted here only" : nil
        case (.failure(let error), _?):
            return difference(refused: error, bytes) == nil ? "\(text) is refused here only: \(error)" : nil
        case (.failure, nil):
            return nil
        }
    }

    // MARK: The corpus

    @Test(arguments: JSONDocuments.valid)
    func validDocumentMeansTheSame(document: String) throws {
        let theirs = try #require(foundation(Array(document.utf8)))
        #expect(isSame(try JSONValue(parsing: document), theirs))
    }

    @Test(arguments: JSONDocuments.invalid)
    func invalidDocumentIsRefusedByBoth(document: String) {
        #expect(JSONValue(ifJSON: document) == nil)
        #expect(foundation(Array(document.utf8)) == nil)
    }

    @Test(arguments: JSONDocuments.foundationOnly)
    func knownDifferenceIsAcceptedByFoundationOnly(document: String) {
        #expect(JSONValue(ifJSON: document) == nil)
        #expect(foundation(Array(document.utf8)) != nil, "Foundation has changed: the difference can go")
    }

    @Test(arguments: JSONDocuments.hereOnly)
    func knownDifferenceIsAcceptedHereOnly(document: String) {
        #expect(JSONValue(ifJSON: document) != nil)
        #expect(foundation(Array(document.utf8)) == nil, "Foundation has changed: the difference can go")
    }

    // MARK: Mutations

    @Test(arguments: 1...8)
    func mutationsMeanTheSame(seed: UInt64) {
        var mutation = Mutation(seed: seed)
        var accepted = 0
        for _ in 1...1000 {
            let bytes = mutation.next(of: JSONDocuments.valid)
            guard String(bytes: bytes, encoding: .utf8) != nil else { continue }
            if JSONScanner.problem(in: bytes) == nil { accepted += 1 }
            if let disagreement = disagreement(about: bytes) { Issue.record("seed \(seed): \(disagreement)") }
        }
        #expect(accepted > 50, "too few mutations were valid for the comparison to mean much")
    }

    /// The scanner, the value and the raw member read the same grammar, each with a loop of its own.
    @Test(arguments: 11...18)
    func readersOfThePackageAgree(seed: UInt64) {
        let documents = JSONDocuments.valid.filter { $0.contains("\"a\"") } + ["{}", "{\"a\":1}"]
        var mutation = Mutation(seed: seed)
        for _ in 1...1000 {
            let bytes = mutation.next(of: documents)
            let text = String(decoding: bytes, as: UTF8.self)
            let value = JSONValue(ifJSON: text)
            #expect((JSONScanner.problem(in: bytes) == nil) == (value != nil), "\(text.debugDescription)")
            #expect(rawJSONMember("a", of: text).flatMap(JSONValue.init(ifJSON:)) == value?["a"], "\(text.debugDescription)")
        }
    }
}
