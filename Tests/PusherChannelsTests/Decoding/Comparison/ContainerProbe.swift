import Foundation

/// The results of calling many methods of a value's containers, including calls that no real type would make.
struct ContainerProbe: Decodable, Equatable {
    private(set) var values: [String] = []

    private enum Keys: String, CodingKey {
        case a, b, c
    }

    init(from decoder: any Decoder) throws {
        note("path", DecoderComparison.path(decoder.codingPath))
        note("userInfo", decoder.userInfo.count)
        ask("keyed") { try decoder.container(keyedBy: Keys.self).allKeys.map(\.rawValue).sorted() }
        ask("unkeyed") { try decoder.unkeyedContainer().currentIndex }
        if let container = try? decoder.container(keyedBy: Keys.self) { probe(container) }
        if var container = try? decoder.unkeyedContainer() { probe(&container) }
        let single = try decoder.singleValueContainer()
        note("null", single.decodeNil())
        ask("single") { try single.decode(Int16.self) }
        ask("single path") { DecoderComparison.path(single.codingPath) }
    }

    private mutating func note(_ property: String, _ value: Any) {
        values.append("\(property): \(value)")
    }

    private mutating func ask(_ property: String, _ value: () throws -> Any) {
        do {
            note(property, try value())
        } catch {
            note(property, DecoderComparison.description(of: error))
        }
    }

    private mutating func probe(_ container: KeyedDecodingContainer<Keys>) {
        note("contains", container.contains(.a))
        ask("path") { DecoderComparison.path(container.codingPath) }
        ask("null") { try container.decodeNil(forKey: .a) }
        for key in [Keys.a, .b, .c] {
            ask("integer") { try container.decode(Int.self, forKey: key) }
            ask("text") { try container.decodeIfPresent(String.self, forKey: key) as Any }
            ask("float") { try container.decodeIfPresent(Float.self, forKey: key) as Any }
            ask("bool") { try container.decodeIfPresent(Bool.self, forKey: key) as Any }
            ask("array") { try container.decodeIfPresent([Int?].self, forKey: key) as Any }
            ask("nested unkeyed") { try container.nestedUnkeyedContainer(forKey: key).count as Any }
            ask("nested keyed") {
                let nested = try container.nestedContainer(keyedBy: Keys.self, forKey: key)
                return (DecoderComparison.path(nested.codingPath), nested.contains(.b))
            }
            ask("super of a key") { try container.superDecoder(forKey: key).singleValueContainer().decode(Double.self) }
        }
        ask("super") { try container.superDecoder().container(keyedBy: Keys.self).decode(UInt.self, forKey: .a) }
    }

    private mutating func probe(_ container: inout any UnkeyedDecodingContainer) {
        note("count", container.count as Any)
        ask("path") { DecoderComparison.path(container.codingPath) }
        // Each call that succeeds advances by one element; some also succeed past the end.
        for _ in 0..<3 {
            ask("null") { try container.decodeNil() }
            ask("integer") { try container.decode(Int32.self) }
            ask("text") { try container.decode(String.self) }
            ask("generic") { try container.decode([Int].self) }
            ask("nested unkeyed") { try container.nestedUnkeyedContainer().count as Any }
            ask("nested keyed") { try container.nestedContainer(keyedBy: Keys.self).contains(.a) }
            ask("text or none") { try container.decodeIfPresent(String.self) as Any }
            ask("float or none") { try container.decodeIfPresent(Double.self) as Any }
            ask("generic or none") { try container.decodeIfPresent(URL.self) as Any }
            note("place", (container.currentIndex, container.isAtEnd))
        }
        ask("super") {
            let decoder = try container.superDecoder()
            return (DecoderComparison.path(decoder.codingPath), try decoder.singleValueContainer().decode(Bool.self))
        }
    }
}
