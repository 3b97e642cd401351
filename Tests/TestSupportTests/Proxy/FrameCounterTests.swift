import Testing

@testable import TestSupport

@Suite struct FrameCounterTests {
    private let head = Array("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n".utf8)

    /// Returns the positions at which frames end when the bytes are read in pieces of the given size.
    private func ends(in bytes: [UInt8], piece: Int) -> [Int] {
        var counter = FrameCounter()
        var ends: [Int] = []
        for start in stride(from: 0, to: bytes.count, by: piece) {
            bytes[start..<min(start + piece, bytes.count)].withUnsafeBytes { counter.read($0) { ends.append(start + $0) } }
        }
        return ends
    }

    @Test(arguments: [1, 2, 3, 7, 100_000])
    func `Frame ends are found for all lengths, however the bytes are split`(piece: Int) {
        var bytes = head
        var expected = [head.count]
        for length in [0, 1, 125, 126, 127, 65_535, 65_536] {
            bytes.append(0x81)
            switch length {
            case ...125: bytes.append(UInt8(length))
            case ...0xFFFF: bytes += [126, UInt8(length >> 8), UInt8(length & 0xFF)]
            default: bytes += [127, 0, 0, 0, 0, 0, UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)]
            }
            bytes += [UInt8](repeating: 0x81, count: length)
            expected.append(bytes.count)
        }
        #expect(ends(in: bytes, piece: piece) == expected)
    }

    @Test func `Frame ends are found in masked frames`() {
        let frames: [UInt8] = [0x81, 0x82, 1, 2, 3, 4, 65, 66, 0x89, 0x80, 1, 2, 3, 4, 0x81, 0xFE, 0, 126]
        let all = head + frames + [UInt8](repeating: 0, count: 130)
        #expect(ends(in: all, piece: 1) == [head.count, head.count + 8, head.count + 14, all.count])
    }

    @Test func `A stream that is no WebSocket has no frames`() {
        let reply = Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n".utf8) + [0x81, 0, 0x81, 0]
        #expect(ends(in: reply, piece: 5) == [])
        #expect(ends(in: [0, 1, 2, 3], piece: 1) == [])
    }

    @Test(arguments: [false, true])
    func `A frame with the largest possible length never ends`(isMasked: Bool) {
        let frame: [UInt8] = [0x82, isMasked ? 0xFF : 0x7F] + [UInt8](repeating: 0xFF, count: 8)
        #expect(ends(in: head + frame + [UInt8](repeating: 0, count: 1000), piece: 64) == [head.count])
    }

    @Test func `The head's empty line is found after a stray carriage return`() {
        let head = Array("HTTP/1.1 101 X\r\nA: \r\r\n\r\n".utf8)
        #expect(ends(in: head + [0x81, 0], piece: 1) == [head.count, head.count + 2])
    }
}
