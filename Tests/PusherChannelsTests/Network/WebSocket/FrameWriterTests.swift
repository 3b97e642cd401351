import Testing

@testable import PusherChannels

/// A client's frames: RFC 6455, 5.1 to 5.5.
@Suite struct FrameWriterTests {
    /// A writer with the key of the RFC's examples.
    private func written(_ body: (FrameWriter, inout [UInt8]) -> Void) -> [UInt8] {
        var output: [UInt8] = []
        body(FrameWriter { 0x37FA_213D }, &output)
        return output
    }

    // Proves W5.1, W5.35, W6.2.
    @Test func `A text and a pong are written as the RFC's examples of masked frames`() {
        let masked: [UInt8] = [0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
        let text = written { $0.append(text: "Hello", to: &$1) }
        #expect(text == [0x81] + masked)
        let pong = Array("Hello".utf8).withUnsafeBytes { payload in written { $0.append(pong: payload, to: &$1) } }
        #expect(pong == [0x8A] + masked)
    }

    // Proves W5.6.
    @Test(
        arguments: [
            (0, [0x80]), (1, [0x81]), (125, [0xFD]), (126, [0xFE, 0, 126]), (65535, [0xFE, 0xFF, 0xFF]),
            (65536, [0xFF, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] as [(Int, [UInt8])])
    func `A frame's length is written in its shortest form`(size: Int, length: [UInt8]) {
        let text = String(repeating: "a", count: size)
        let bytes = written { $0.append(text: text, to: &$1) }
        #expect(Array(bytes.prefix(1 + length.count)) == [0x81] + length)
        #expect(bytes.count == 1 + length.count + 4 + size)
        #expect(ClientFrame.all(in: bytes) == [ClientFrame.text(text)])
    }

    // Proves W5.9.
    @Test func `Each frame is masked with a key of its own`() {
        var keys: [UInt32] = [1, 2, 3]
        let writer = FrameWriter { keys.removeFirst() }
        var output: [UInt8] = []
        for _ in 0..<3 { writer.append(text: "", to: &output) }
        #expect(output == [0x81, 0x80, 0, 0, 0, 1, 0x81, 0x80, 0, 0, 0, 2, 0x81, 0x80, 0, 0, 0, 3])
    }

    // Proves W5.11.
    @Test func `Masking by words gives the same bytes as masking byte by byte`() {
        let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        for size in 0...40 {
            let plain = (0..<size).map { UInt8($0 &* 31 & 0xFF) }
            // Every alignment.
            for offset in 0..<8 {
                var bytes = [UInt8](repeating: 0, count: offset) + plain
                bytes.withUnsafeMutableBytes { mask(UnsafeMutableRawBufferPointer(rebasing: $0[offset...]), with: 0x37FA_213D) }
                #expect(Array(bytes[offset...]) == plain.enumerated().map { $1 ^ key[$0 % 4] })
            }
        }
    }

    // Proves W5.20.
    @Test func `A pong is written with at most 125 bytes`() {
        let bytes = [UInt8](repeating: 0x61, count: 200).withUnsafeBytes { payload in
            written { $0.append(pong: payload, to: &$1) }
        }
        #expect(ClientFrame.all(in: bytes) == [ClientFrame.pong(String(repeating: "a", count: 125))])
    }

    // Proves W5.23, W7.12.
    @Test(arguments: [0, 999, 1005, 1006, 1015, 5000] as [UInt16])
    func `A close code that may not be sent leaves the close frame empty`(code: UInt16) {
        let bytes = written { $0.append(close: code, reason: "why", to: &$1) }
        #expect(ClientFrame.all(in: bytes) == [ClientFrame(opcode: 8, payload: [])])
    }

    // Proves W5.20, W5.23.
    @Test(arguments: ["a", "é", "€", "🙂"])
    func `A close reason of more than 123 bytes is cut between characters`(character: String) {
        for before in 0...8 {
            for count in [100, 123 / character.utf8.count, 124 / character.utf8.count, 200] {
                let reason = String(repeating: "x", count: before) + String(repeating: character, count: count)
                let reasonSent = ClosePayload.bytes(code: 1000, reason: reason).dropFirst(2)
                #expect(String(validating: reasonSent, as: UTF8.self).map(reason.hasPrefix) == true)
                let room = 123 - reasonSent.count
                #expect(reasonSent.count == reason.utf8.count || (0..<character.utf8.count).contains(room))
            }
        }
    }
}

/// A frame that a client sent, unmasked byte by byte as the RFC describes it.
struct ClientFrame: Equatable {
    var opcode: UInt8
    var payload: [UInt8]

    static func text(_ text: String) -> ClientFrame { ClientFrame(opcode: 1, payload: Array(text.utf8)) }

    static func pong(_ text: String) -> ClientFrame { ClientFrame(opcode: 10, payload: Array(text.utf8)) }

    static func close(_ code: UInt16, _ reason: String = "") -> ClientFrame {
        ClientFrame(opcode: 8, payload: [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
    }

    /// Parses frames; nil if any of them isn't complete, final and masked.
    static func all(in bytes: [UInt8]) -> [ClientFrame]? {
        var frames: [ClientFrame] = []
        var rest = bytes[...]
        while let first = rest.popFirst() {
            guard first & 0xF0 == 0x80, let second = rest.popFirst(), second & 0x80 != 0 else { return nil }
            let size = second == 0xFE ? 2 : second == 0xFF ? 8 : 0
            guard rest.count >= size + 4 else { return nil }
            let length = size == 0 ? Int(second & 0x7F) : rest.prefix(size).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(size)
            let key = Array(rest.prefix(4))
            rest = rest.dropFirst(4)
            guard rest.count >= length else { return nil }
            let payload = rest.prefix(length).enumerated().map { $1 ^ key[$0 % 4] }
            rest = rest.dropFirst(length)
            frames.append(ClientFrame(opcode: first & 0xF, payload: payload))
        }
        return frames
    }
}
