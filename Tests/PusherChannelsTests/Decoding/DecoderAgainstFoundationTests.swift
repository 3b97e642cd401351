import Foundation
import Testing

@testable import PusherChannels

/// This package's decoder and Foundation's decode texts as values of many types with the same result.
@Suite struct DecoderAgainstFoundationTests {
    @Test(arguments: JSONDocuments.valid + JSONDocuments.invalid + JSONDocuments.hereOnly + JSONDocuments.foundationOnly)
    func `A JSON document is decoded as Foundation decodes it`(document: String) {
        expectSame(document)
    }

    @Test(arguments: DecodedDocuments.all)
    func `A document made for the compared types is decoded as Foundation decodes it`(document: String) {
        #expect(!DecoderComparison.isKnownToDiffer(Array(document.utf8)))
        expectSame(document)
    }

    /// Objects with many members look them up in a different way.
    @Test(arguments: [1, 2, 15, 16, 17, 18, 33, 200])
    func `An object with any number of members is decoded as Foundation decodes it`(size: Int) {
        let members = (0..<size).map { #""\#(["a", "b", "c", "d", "\\u0065"][$0 % 5])\#($0 < 5 ? "" : String($0))":\#($0)"# }
        expectSame("{\(members.joined(separator: ","))}")
        expectSame("{\(members.reversed().joined(separator: ","))}")
        expectSame("{\((members + members.map { $0 + "0" }).joined(separator: ","))}")
    }

    @Test(arguments: 21...28)
    func `A mutated document is decoded as Foundation decodes it`(seed: UInt64) {
        var mutation = Mutation(seed: seed)
        for _ in 1...100 {
            let bytes = mutation.next(of: JSONDocuments.valid + DecodedDocuments.all)
            guard String(validating: bytes, as: UTF8.self) != nil else { continue }
            if let disagreement = DecoderComparison.disagreement(about: bytes) { Issue.record("seed \(seed): \(disagreement)") }
        }
    }

    private func expectSame(_ document: String) {
        if let disagreement = DecoderComparison.disagreement(about: Array(document.utf8)) { Issue.record("\(disagreement)") }
    }

    @Test func `Canonically equivalent member names are two names, unlike in Foundation`() throws {
        let text = "{\"\u{E9}\":1,\"e\u{301}\":2}"
        let keys = try decode(Names.self, text).keys
        #expect(keys.map { Array($0.utf8) } == [Array("\u{E9}".utf8), Array("e\u{301}".utf8)])
        let theirs = try JSONDecoder().decode(Names.self, from: Data(text.utf8)).keys
        #expect(theirs.count == 1, "Foundation has changed: the difference can go")
    }

    @Test(arguments: ["0e3", "0.00e5"])
    func `A zero with an exponent is decoded as zero, unlike in Foundation`(number: String) throws {
        #expect(try decode(Double.self, number) == 0)
        #expect(throws: DecodingError.self, "Foundation has changed: the difference can go") {
            try JSONDecoder().decode(Double.self, from: Data(number.utf8))
        }
    }

    /// Foundation ends the program for these numbers.
    @Test(arguments: ["1" + String(repeating: "0", count: 300) + "e-284", "0." + String(repeating: "0", count: 129) + "1e146"])
    func `A number with hundreds of digits is decoded as a Double but not as an integer`(number: String) throws {
        #expect(try decode(Double.self, number) == 1e16)
        #expect(throws: DecodingError.self) { try decode(Int.self, number) }
    }

    /// Foundation would take the text for UTF-16 and end the program for the same numbers.
    @Test func `A text with NUL bytes is refused`() {
        for document in ["1\u{0}", "\u{0}1"] { #expect(throws: DecodingError.self) { try decode(Int.self, document) } }
        for text in ["1", "[1" + String(repeating: "0", count: 300) + "e-284]"] {
            for isFirst in [true, false] {
                let bytes: [UInt8] = text.utf8.flatMap { isFirst ? [0, $0] as [UInt8] : [$0, 0] }
                #expect(throws: DecodingError.self) {
                    try bytes.withUnsafeBytes { try JSONTextDecoder.decode([Int].self, from: $0) }
                }
            }
        }
    }

    private struct Names: Decodable {
        let keys: [String]

        init(from decoder: any Decoder) throws {
            keys = try decoder.container(keyedBy: DecodedTree.AnyKey.self).allKeys.map(\.stringValue)
        }
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try Array(text.utf8).withUnsafeBytes { try JSONTextDecoder.decode(type, from: $0) }
    }
}
