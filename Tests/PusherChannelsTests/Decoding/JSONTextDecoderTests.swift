import Foundation
import Testing

@testable import PusherChannels

@Suite struct JSONTextDecoderTests {
    private struct Trade: Decodable, Equatable {
        let symbol: String
        let price: Double
        let size: Int?
    }

    @Test func `The path of a decoding error consists of the types' keys and of array indices`() throws {
        do {
            _ = try decode([String: [Trade]].self, #"{"a":[{"symbol":"ACME","price":"12.5"}]}"#)
            Issue.record("a string is no price")
        } catch DecodingError.typeMismatch(let expected, let context) {
            #expect("\(expected)" == "Double")
            #expect(context.codingPath.map(\.stringValue) == ["a", "Index 0", "price"])
            #expect(context.codingPath.map(\.intValue) == [nil, 0, nil])
            #expect("\(type(of: try #require(context.codingPath.last)))" == "CodingKeys")
            #expect(context.debugDescription == "Expected to decode Double but found a string instead.")
        }
    }

    @Test func `The error of a corrupted text says what is wrong and at which byte`() throws {
        do {
            _ = try decode([Int].self, "[1 2]")
            Issue.record("two elements have a comma between them")
        } catch DecodingError.dataCorrupted(let context) {
            #expect(context.debugDescription == "The given data was not valid JSON: expected a comma at byte 3.")
        }
    }

    @Test(arguments: [3, 40])
    func `An object's keys are listed once each, in the order of the text`(size: Int) throws {
        let names = (0..<size).map { "n\(size - $0)" }
        let members = (names + names.reversed()).map { "\"\($0)\":0" }.joined(separator: ",")
        #expect(try decode(Kept.self, "{\(members)}").keyed?.allKeys.map(\.stringValue) == names)
    }

    private struct Kept: Decodable {
        let decoder: any Decoder
        let keyed: KeyedDecodingContainer<DecodedTree.AnyKey>?
        let unkeyed: (any UnkeyedDecodingContainer)?

        init(from decoder: any Decoder) throws {
            self.decoder = decoder
            keyed = try? decoder.container(keyedBy: DecodedTree.AnyKey.self)
            unkeyed = try? decoder.unkeyedContainer()
        }
    }

    /// They can still decode at their place in the text after the text's memory is gone.
    @Test func `A decoder and its containers can be used after decoding has ended`() throws {
        let kept = try decode([Kept].self, #"[{"a":"first"},["second"],"third"]"#)
        #expect(try kept[0].keyed?.decode(String.self, forKey: .init(stringValue: "a")) == "first")
        var unkeyed = try #require(kept[1].unkeyed)
        #expect(try unkeyed.decode(String.self) == "second")
        #expect(try kept[2].decoder.singleValueContainer().decode(String.self) == "third")
        #expect(kept[2].decoder.codingPath.map(\.stringValue) == ["Index 2"])
    }

    private struct Keeper: Decodable {
        static let place = "JSONTextDecoderTests.Keeper"

        init(from decoder: any Decoder) throws {
            Thread.current.threadDictionary[Self.place] = decoder
            throw CancellationError()
        }
    }

    @Test func `A kept decoder can be used after decoding ended with an error thrown by the type`() throws {
        defer { Thread.current.threadDictionary[Keeper.place] = nil }
        #expect(throws: CancellationError.self) { try decode([Keeper].self, #"["text"]"#) }
        let decoder = try #require(Thread.current.threadDictionary[Keeper.place] as? any Decoder)
        #expect(try decoder.singleValueContainer().decode(String.self) == "text")
    }

    /// Overwrites the text's memory before freeing it, so no decoder can read the text there afterwards.
    private func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
        defer {
            memory.initializeMemory(as: UInt8.self, repeating: 0)
            memory.deallocate()
        }
        memory.copyBytes(from: text.utf8)
        return try JSONTextDecoder.decode(type, from: UnsafeRawBufferPointer(memory))
    }
}
