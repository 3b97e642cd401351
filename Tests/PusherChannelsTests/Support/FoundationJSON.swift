import Foundation

@testable import PusherChannels

/// Compares this package's JSON with Foundation's on the same documents.
enum FoundationJSON {
    /// Returns the document as Foundation reads it; nil if it refuses.
    static func value(of bytes: [UInt8]) -> JSONValue? {
        (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)).flatMap(value)
    }

    private static func value(_ any: Any) -> JSONValue? {
        switch any {
        case is NSNull: .null
        case let string as String: .string(string)
        case let number as NSNumber: self.number(number)
        case let array as [Any]: .array(array.compactMap(value))
        case let object as [String: Any]: JSONValue(members: object.compactMap { key, any in value(any).map { (key, $0) } })
        default: nil
        }
    }

    private static func number(_ number: NSNumber) -> JSONValue {
        switch String(cString: number.objCType) {
        case "c": .bool(number.boolValue)
        case "d": .double(number.doubleValue)
        default: Int(number.description).map { .integer($0) } ?? .double(number.doubleValue)
        }
    }

    /// Indicates whether the values are equal. Texts are compared byte by byte and numbers to twelve digits, because Foundation
    /// reads numbers with many digits as decimals and rounds them again.
    static func isSame(_ left: JSONValue, _ right: JSONValue) -> Bool {
        switch (left, right) {
        case (.number(let left), .number(let right)): left == right || isClose(left, right)
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy(isSame)
        case (.object(let left), .object(let right)):
            left.count == right.count && left.allSatisfy { key, value in right[key].map { isSame(value, $0) } ?? false }
        default:
            left == right
        }
    }

    private static func isClose(_ left: JSONNumber, _ right: JSONNumber) -> Bool {
        guard let left = Double(left.text), let right = Double(right.text) else { return false }
        return abs(left - right) <= 1e-12 * max(abs(left), abs(right))
    }

    /// Describes a difference between the two that isn't one of the ``JSONDifferences``; nil if there is none. `bytes` are UTF-8.
    static func disagreement(about bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        let ours = JSONValue(ifJSON: text)
        // Foundation also accepts UTF-16 and UTF-32, which contain NUL bytes.
        if bytes.contains(0) { return ours.map { "\(text.debugDescription) has a NUL and is \($0)" } }
        let differences = JSONDifferences(in: bytes)
        if differences.depth > JSONScanner.maximumDepth { return ours.map { _ in "a document too deep is accepted" } }
        let here = JSONValue(ifJSON: String(decoding: differences.repaired, as: UTF8.self))
        guard (ours != nil) == (here != nil && !differences.isRefusedHere) else {
            return "\(text.debugDescription) is \(String(describing: ours)), with \(differences.found)"
        }
        switch (here, value(of: differences.repaired)) {
        case (let here?, let there?):
            return isSame(here, there) ? nil : "\(text.debugDescription) is \(here) here and \(there) there"
        case (_?, nil): return "\(text.debugDescription) is accepted here only"
        case (nil, _?): return "\(text.debugDescription) is refused here only"
        case (nil, nil): return nil
        }
    }
}
