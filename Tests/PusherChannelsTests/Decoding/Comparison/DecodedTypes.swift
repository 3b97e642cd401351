import Foundation

/// The types that texts are decoded as when the decoders are compared.
enum DecodedTypes {
    static let all: [any (Decodable & Equatable & SendableMetatype).Type] =
        [
            Bool.self, String.self, Double.self, Float.self, Int.self, Int8.self, UInt8.self, UInt64.self,
            Date.self, Data.self, URL.self, Decimal.self, Int?.self, String??.self,
            [Int?].self, [[Float]].self, [Decimal].self, [String].self, [Date?].self, [Bool].self,
            Numbers.self, Foundations.self, Whole.self, Shape.self, [Shape].self, Derived.self, Skipping.self,
            DecodedTree.self, ContainerProbe.self,
        ] + wide + unordered

    // On Apple platforms, only the newest systems have 128-bit integers.
    #if canImport(Darwin)
    private static let wide: [any (Decodable & Equatable & SendableMetatype).Type] = []
    #else
    private static let wide: [any (Decodable & Equatable & SendableMetatype).Type] = [
        Int128.self, UInt128.self, [Int128].self, Wide.self,
    ]

    struct Wide: Decodable, Equatable {
        var a: Int128?
        var b: UInt128
    }
    #endif

    private static let unordered: [any (Decodable & Equatable & SendableMetatype).Type] = [
        [String: Int].self, [String: [String: String?]].self, [Int: Double].self, [Kind: UInt8].self,
    ]

    static func isUnordered(_ type: any Any.Type) -> Bool {
        unordered.contains { $0 == type }
    }

    enum Kind: String, Decodable, CodingKeyRepresentable {
        case a, b
    }

    /// Members whose types each have their own method in a container.
    struct Numbers: Decodable, Equatable {
        var a: Int?
        var b: Int8?
        var c: Int16?
        var d: Int32?
        var e: Int64?
        var f: UInt?
        var g: UInt8?
        var h: UInt16?
        var i: UInt32?
        var j: UInt64?
        var k: Double?
        var l: Float?
        var m: Bool?
        var n: String?
    }

    struct Foundations: Decodable, Equatable {
        var a: Date?
        var b: Data?
        var c: URL?
        var d: Decimal?
        var e: [Date]?
        var f: Kind?
    }

    /// A type whose members are all required.
    struct Whole: Decodable, Equatable {
        var a: Int
        var b: [Inner]
        var c: String

        struct Inner: Decodable, Equatable {
            var a: Double
            var b: Bool?
        }
    }

    enum Shape: Decodable, Equatable {
        case a(Int)
        case b(c: String, d: Double?)
        case e
    }

    class Base: Decodable {
        let a: Int?
    }

    final class Derived: Base, Equatable {
        private let b: String

        private enum CodingKeys: CodingKey {
            case b
        }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            b = try container.decode(String.self, forKey: .b)
            try super.init(from: try container.superDecoder())
        }

        static func == (left: Derived, right: Derived) -> Bool {
            left.a == right.a && left.b == right.b
        }
    }

    /// Decodes nothing, so it fails only for text that isn't valid JSON.
    struct Skipping: Decodable, Equatable {
        init(from decoder: any Decoder) throws {
            _ = try decoder.singleValueContainer()
        }
    }
}
