import Foundation

/// Any JSON text, decoded as a tree: each value as the first of several types that fits, with its coding path.
indirect enum DecodedTree: Decodable, Equatable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(UInt64)
    case string([UInt8])
    case array([DecodedTree])
    case object([Member])
    case refused(String)

    struct Member: Equatable {
        let name: [UInt8]
        let path: String
        let value: DecodedTree
    }

    struct AnyKey: CodingKey {
        let stringValue: String
        let intValue: Int?

        init(stringValue: String) {
            self.stringValue = stringValue
            intValue = nil
        }

        init?(intValue: Int) {
            nil
        }
    }

    init(from decoder: any Decoder) throws {
        if let members = try? decoder.container(keyedBy: AnyKey.self) {
            self = .object(try Self.members(members))
        } else if var elements = try? decoder.unkeyedContainer() {
            var array: [DecodedTree] = []
            while !elements.isAtEnd { array.append(try elements.decode(DecodedTree.self)) }
            self = .array(array)
        } else {
            self = Self.single(try decoder.singleValueContainer())
        }
    }

    /// Sorted by name, because Foundation's keys are in no particular order.
    private static func members(_ container: KeyedDecodingContainer<AnyKey>) throws -> [Member] {
        let keys = container.allKeys.sorted { $0.stringValue < $1.stringValue }
        return try keys.map { key in
            let path = DecoderComparison.path(try container.superDecoder(forKey: key).codingPath)
            let value = try container.decode(DecodedTree.self, forKey: key)
            return Member(name: Array(key.stringValue.utf8), path: path, value: value)
        }
    }

    private static func single(_ container: any SingleValueDecodingContainer) -> DecodedTree {
        if container.decodeNil() { return .null }
        if let bool = try? container.decode(Bool.self) { return .bool(bool) }
        if let integer = try? container.decode(Int.self) { return .integer(integer) }
        if let number = try? container.decode(Double.self) { return .number(number.bitPattern) }
        do {
            return .string(Array(try container.decode(String.self).utf8))
        } catch {
            return .refused(DecoderComparison.description(of: error))
        }
    }
}
