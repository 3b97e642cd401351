import Testing

@testable import PusherChannels

/// Text: RFC 6455, 8.1, and RFC 3629.
@Suite struct UTF8ValidatorTests {
    private func isText(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { UTF8Validator.isText($0) } }

    /// Indicates whether the standard library considers the bytes valid UTF-8.
    private func isTextToSwift(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

    private func isText(pieces: [[UInt8]]) -> Bool {
        var validator = UTF8Validator()
        return pieces.allSatisfy { piece in piece.withUnsafeBytes { validator.accept($0) } } && validator.isComplete
    }

    // Proves W8.3.
    @Test func `Short byte sequences are valid UTF-8 exactly if they are to the standard library`() {
        let interesting: [UInt8] = [
            0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF,
            0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
        ]
        let last: [UInt8] = [0x41, 0x7F, 0x80, 0xBF, 0xC0, 0xC3, 0xFF]
        for first in 0...255 as ClosedRange<UInt8> {
            // No other byte may begin a character of four.
            let ends: [[UInt8]] = first < 0xEF ? [[]] : [[]] + last.map { [$0] }
            for second in interesting {
                for third in last {
                    for end in ends {
                        let bytes = [first, second, third] + end
                        if isText(bytes) != isTextToSwift(bytes) { Issue.record("\(bytes)") }
                    }
                }
            }
        }
    }

    // Proves W8.3.
    @Test(arguments: ["é", "€", "한", "\u{FFFF}", "🙂", "\u{10FFFF}"])
    func `A multibyte character is accepted, and a damaged one refused, at every position`(character: String) {
        for before in 0...40 {
            for after in [0, 1, 7, 8, 33] {
                let bytes = Array((String(repeating: "a", count: before) + character + String(repeating: "b", count: after)).utf8)
                #expect(isText(bytes))
                var cut = bytes
                cut.remove(at: before + character.utf8.count - 1)
                #expect(!isText(cut))
                var wrong = bytes
                wrong[before] = 0xFF
                #expect(!isText(wrong))
            }
        }
    }

    // Proves W5.16, W8.3.
    @Test func `Splitting text anywhere doesn't change whether it is valid UTF-8`() {
        let good = Array("aé€한🙂 plain text of some length ü".utf8)
        let bad: [[UInt8]] = [
            [0x61, 0xED, 0xA0, 0x80], [0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80],
            [0xE2, 0x82], [0xF0, 0x9F, 0x99], [0x80],
        ]
        for bytes in [good] + bad {
            for first in 0...bytes.count {
                for second in first...bytes.count {
                    let pieces = [Array(bytes[..<first]), Array(bytes[first..<second]), Array(bytes[second...])]
                    #expect(isText(pieces: pieces) == (bytes == good))
                }
            }
        }
    }

    // Proves W8.2.
    @Test func `A character may be split between the fragments of a text message`() {
        let start = ServerFrame(opcode: 1, payload: [0xE2], isFinal: false).bytes
        let middle = ServerFrame(opcode: 0, payload: [0x82], isFinal: false).bytes
        let end = ServerFrame(opcode: 0, payload: [0xAC]).bytes
        #expect(Heard.reading(start + middle + ServerFrame.ping("") + end) == [.ping(""), .text("€")])
        #expect(Heard.reading([0x81, 100, 0x61, 0xC3]) == [], "the rest of the character may come")
    }
}
