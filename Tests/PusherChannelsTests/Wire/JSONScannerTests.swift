import Foundation
import Testing

@testable import PusherChannels

/// The scanner on input that nobody meant to send: it ends, within the input, and agrees with Foundation on what is JSON.
@Suite struct JSONScannerTests {
    private static let documents = [
        #"{"event":"news","channel":"room","data":"{\"a\":[1,2.5,-3e4,true,false,null]}"}"#,
        #"{"event":"pusher:error","data":{"code":4001,"message":"é \ud83d\ude42 \\ \/ \n"}}"#,
        #" [ { } , [ ] , "" , 0 , -0.0 , 1E+2 , "\u0000" , null ] "#,
        #"{"a":{"b":{"c":["d",{"e":"f"}]}},"g":"0123456789abcdef0123456789abcdef"}"#,
    ]

    private func isAccepted(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var scanner = JSONScanner(buffer)
            do throws(JSONError) {
                scanner.skipWhitespace()
                try scanner.skipValue()
                try scanner.expectEnd()
                return true
            } catch {
                return false
            }
        }
    }

    private func foundationAccepts(_ bytes: [UInt8]) -> Bool {
        do {
            _ = try JSONSerialization.jsonObject(with: Data(bytes), options: [.fragmentsAllowed])
            return true
        } catch {
            return false
        }
    }

    @Test(arguments: documents)
    func everyBeginningOfADocumentEndsInAnError(document: String) {
        let bytes = Array(document.utf8)
        #expect(isAccepted(bytes))
        let end = document.trimmingCharacters(in: .whitespaces).isEmpty ? 0 : bytes.lastIndex { $0 != 0x20 } ?? 0
        for length in 0...end where length <= end {
            #expect(!isAccepted(Array(bytes[..<length])), "the first \(length) bytes")
        }
    }

    /// Mutated documents, from fixed seeds: what Foundation takes we take, what it refuses we refuse. Left out is what Foundation
    /// itself treats by other rules than JSON's: bytes that are no UTF-8 or make it guess another encoding, and halves of
    /// surrogate pairs, which we let stand for U+FFFD as servers in JavaScript send them.
    @Test(arguments: 0..<8 as Range<UInt64>)
    func mutationsAreJudgedAsFoundationJudgesThem(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let alphabet = Array(#"{}[]:,"\ntfu0123456789eE+-. a"#.utf8)
        for round in 0..<400 {
            var bytes = Array(Self.documents[round % Self.documents.count].utf8)
            for _ in 0...Int(random.next() % 3) {
                let index = Int(random.next() % UInt64(bytes.count))
                let byte = alphabet[Int(random.next() % UInt64(alphabet.count))]
                switch random.next() % 3 {
                case 0: bytes[index] = byte
                case 1: bytes.insert(byte, at: index)
                default: bytes.remove(at: index)
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            guard String(validating: bytes, as: UTF8.self) != nil, !text.contains(#"\u"#) else { continue }
            #expect(isAccepted(bytes) == foundationAccepts(bytes), "\(text)")
        }
    }

    @Test func randomBytesEndSomehow() {
        var random = SplitMix64(seed: 42)
        for _ in 0..<5_000 {
            let bytes = (0..<Int(random.next() % 40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            _ = isAccepted(bytes)
            _ = bytes.withUnsafeBytes { buffer in Result { try EnvelopeDecoder().decode(buffer) } }
        }
    }
}
