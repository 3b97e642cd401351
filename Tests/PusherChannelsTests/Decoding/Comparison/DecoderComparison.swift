import Foundation

@testable import PusherChannels

/// Decodes a text with this package's decoder and Foundation's: both must return the same value or fail with the same error.
enum DecoderComparison {
    enum Outcome<Value> {
        case value(Value)
        case refused(String)
    }

    /// Decodes from memory that is freed afterwards, so the address sanitizer finds reads after decoding or beyond the end.
    static func ours<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) -> Outcome<Value> {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { memory.deallocate() }
        memory.copyBytes(from: bytes)
        return outcome { try JSONTextDecoder.decode(type, from: UnsafeRawBufferPointer(memory)) }
    }

    static func theirs<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) -> Outcome<Value> {
        outcome { try JSONDecoder().decode(type, from: Data(bytes)) }
    }

    private static func outcome<Value>(_ decode: () throws -> Value) -> Outcome<Value> {
        do {
            return .value(try decode())
        } catch {
            return .refused(description(of: error))
        }
    }

    /// Returns all details of an error except its explanation.
    static func description(of error: any Error) -> String {
        switch error {
        case DecodingError.typeMismatch(let type, let context): "\(path(context)): no \(type)"
        case DecodingError.valueNotFound(let type, let context): "\(path(context)): null for \(type)"
        case DecodingError.keyNotFound(let key, let context): "\(path(context)): no key \(key.stringValue)"
        case DecodingError.dataCorrupted(let context): "\(path(context)): corrupted"
        default: "not a DecodingError"
        }
    }

    private static func path(_ context: DecodingError.Context) -> String {
        path(context.codingPath)
    }

    static func path(_ keys: [any CodingKey]) -> String {
        "/" + keys.map { "\($0.stringValue)(\($0.intValue.map(String.init) ?? ""))" }.joined(separator: "/")
    }

    /// Describes the first difference between the two decoders for any of the types; nil if there is none.
    static func disagreement(about bytes: [UInt8]) -> String? {
        guard !isKnownToDiffer(bytes) else { return nil }
        for type in DecodedTypes.all {
            if let disagreement = disagreement(about: bytes, as: type) { return disagreement }
        }
        return nil
    }

    /// Decodes bytes that aren't UTF-8. No caller should do that; any result is fine as long as it isn't a trap.
    static func decode(_ bytes: [UInt8]) {
        func decode<Value: Decodable>(_ type: Value.Type) { _ = ours(type, bytes) }
        for type in DecodedTypes.all { decode(type) }
    }

    private static func disagreement<Value: Decodable & Equatable>(about bytes: [UInt8], as type: Value.Type) -> String? {
        let (ours, theirs) = (ours(type, bytes), theirs(type, bytes))
        let isSame =
            switch (ours, theirs) {
            case (.value(let ours), .value(let theirs)): ours == theirs
            // Foundation visits a dictionary in no particular order, so which of several errors it finds is random.
            case (.refused(let ours), .refused(let theirs)): ours == theirs || DecodedTypes.isUnordered(type)
            case (.value, .refused), (.refused, .value): false
            }
        guard !isSame else { return nil }
        return "\(String(decoding: bytes, as: UTF8.self).debugDescription) as \(type) is \(ours) here and \(theirs) there"
    }

    /// Indicates whether the decoders are known to differ: two names are canonically equivalent in Unicode but have different
    /// bytes; a number has so many digits that Foundation ends the program when decoding an integer; a number is a zero with an
    /// exponent, which Foundation sometimes considers too small; or Foundation may take the text for UTF-16 or UTF-32.
    static func isKnownToDiffer(_ bytes: [UInt8]) -> Bool {
        if bytes.prefix(4).contains(0) { return true }
        let numbers = bytes.split { !"0123456789+-.eE".utf8.contains($0) }
        return numbers.contains { $0.count > 90 || isZeroWithExponent($0) } || hasEquivalentNames(bytes)
    }

    private static func isZeroWithExponent(_ number: ArraySlice<UInt8>) -> Bool {
        var rest = number.drop { $0 == UInt8(ascii: "-") }
        guard rest.popFirst() == UInt8(ascii: "0") else { return false }
        if rest.first == UInt8(ascii: ".") { rest = rest.dropFirst().drop { $0 == UInt8(ascii: "0") } }
        return rest.first.map { $0 | 0x20 == UInt8(ascii: "e") } ?? false
    }

    private static func hasEquivalentNames(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            guard let document = try? JSONDocument(bytes) else { return false }
            var (names, spellings) = (Set<String>(), Set<[UInt8]>())
            var objects = [JSONDocument.root]
            while let value = objects.popLast() {
                let token = document.tokens[value]
                guard token.kind == .object || token.kind == .array else { continue }
                var next = value + 1
                for _ in 0..<token.count {
                    if token.kind == .object {
                        document.withBytes(of: document.tokens[next]) { name in
                            names.insert(String(decoding: name, as: UTF8.self))
                            spellings.insert(Array(name))
                        }
                        next += 1
                    }
                    objects.append(next)
                    next = document.following(next)
                }
            }
            return names.count != spellings.count
        }
    }
}
