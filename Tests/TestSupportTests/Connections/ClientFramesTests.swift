import Testing

@testable import TestSupport

/// Clients' frames, from their bytes.
struct ClientFramesTests {
    /// Returns a client's frame. Its announced length may be another one than that of its payload.
    private func frame(_ first: UInt8, _ payload: String, length: UInt64? = nil, isMasked: Bool = true) -> [UInt8] {
        let mask: [UInt8] = [0x12, 0x34, 0x56, 0x78]
        let masked = OutgoingFrame(first: first, payload.utf8, mask: isMasked ? mask : nil).bytes
        guard let length else { return masked }
        return [first, 0xFF] + (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * UInt64($0))) } + mask
    }

    /// The messages in some bytes that come in pieces of a size, each as a text.
    private func read(_ bytes: [UInt8], in size: Int = .max, limit: Int = 1000) -> [String] {
        var frames = ClientFrames(limit: limit)
        var found: [String] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            var piece = Array(rest.prefix(size))
            rest = rest.dropFirst(size)
            piece.withUnsafeMutableBytes { piece in
                frames.read(piece) { message in
                    switch message {
                    case .text(let text): found.append(text)
                    case .ping(let payload): found.append("ping \(String(decoding: payload, as: UTF8.self))")
                    case .pong: found.append("pong")
                    case .end(let reply): found.append("end \(UInt16(reply.bytes[2]) << 8 | UInt16(reply.bytes[3]))")
                    }
                }
            }
        }
        return found
    }

    @Test(arguments: [1, 2, 3, 5, 11, 64, .max]) func `A client's messages are the same however its bytes are split`(size: Int) {
        let long = String(repeating: "0123456789", count: 50)
        let bytes =
            frame(0x81, "one") + frame(0x81, "") + frame(0x01, "t") + frame(0x89, "you there") + frame(0x8A, "") + frame(0x00, "")
            + frame(0x80, "wo") + frame(0x81, long) + frame(0x88, "\u{0F}\u{21}")
        #expect(read(bytes, in: size) == ["one", "", "ping you there", "pong", "two", long, "end \(0x0F21)"])
    }

    @Test(
        arguments: [
            (0x81, [0xFF, 0xFE], 1007), (0x82, [7], 1003), (0x80, [7], 1002), (0x83, [], 1002), (0x09, [], 1002),
            (0x89, [UInt8](repeating: 0, count: 126), 1002),
            // Reserved bits, half a close code, close codes that must not be sent, and a reason that isn't text.
            (0xC1, [7], 1002), (0xA1, [7], 1002), (0x99, [], 1002), (0x88, [0x03], 1002), (0x88, [0, 0], 1002),
            (0x88, [0x03, 0xED], 1002), (0x88, [0x03, 0xE7], 1002), (0x88, [0x13, 0x88], 1002), (0x88, [0x03, 0xE8, 0xFF], 1007),
        ] as [(UInt8, [UInt8], Int)])
    func `A frame that breaks the WebSocket protocol ends the connection with the code for it`(
        first: UInt8, payload: [UInt8], code: Int
    ) {
        #expect(read(OutgoingFrame(first: first, payload, mask: [0x12, 0x34, 0x56, 0x78]).bytes) == ["end \(code)"])
    }

    @Test func `An unmasked frame ends the connection with 1002`() {
        let bytes = frame(0x81, "one") + frame(0x81, "two", isMasked: false) + frame(0x81, "three")
        #expect(read(bytes, in: 4).prefix(2) == ["one", "end 1002"])
    }

    @Test(arguments: [70_000, 1 << 20, 1 << 62])
    func `A frame over the limit is refused with 1009 before its payload is read`(length: UInt64) {
        #expect(read(frame(0x81, "", length: length)).contains("end 1009"))
        #expect(read(frame(0x01, String(repeating: "x", count: 999)) + frame(0x80, "", length: length)).contains("end 1009"))
    }

    @Test func `A frame with a length of more than 63 bits is refused with 1002`() {
        #expect(read(frame(0x81, "", length: 1 << 63)) == ["end 1002"])
    }
}
