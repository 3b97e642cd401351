import Testing

@testable import PusherChannels

/// Reading messages frame by frame, in the order of RFC 6455's sections.
@Suite struct MessageReaderTests {
    // Proves W5.8, W5.13, W5.34, W5.35.
    @Test(
        arguments: [
            ([0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], .text("Hello")),
            ([0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F], .text("Hello")),
            ([0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], .ping("Hello")),
            ([0x8A, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], .pong("Hello")), ([0x82, 0x7E, 0x01, 0x00] + small, .binary(small)),
            ([0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + large, .binary(large)),
        ] as [([UInt8], Heard)])
    func `The RFC's examples of texts, fragments, pings, pongs, and large messages are read`(bytes: [UInt8], heard: Heard) {
        #expect(Heard.reading(bytes) == [heard])
    }

    private static let small = [UInt8](0...255)
    private static let large = [UInt8](repeating: 7, count: 65536)

    // Proves W5.8.
    @Test(arguments: [0, 1, 125, 126, 127, 255, 256, 65535, 65536, 65537])
    func `A payload of any size ends where its header says, and the next frame follows`(size: Int) {
        let payload = [UInt8](repeating: 0x61, count: size)
        let bytes = ServerFrame.binary(payload) + ServerFrame.text("next")
        #expect(Heard.reading(bytes) == [.binary(payload), .text("next")])
    }

    // Proves W5.13, W5.14, W5.15, W5.17.
    @Test(
        arguments: [
            ([start("a"), more(""), more("b"), end("c")], [.text("abc")]),
            ([start(""), more(""), end(""), start(""), end("")], [.text(""), .text("")]),
            // A message has the kind of its first fragment.
            ([ServerFrame.binary([0xFF], isFinal: false), end("a"), start("b"), end("")], [.binary([0xFF, 0x61]), .text("b")]),
            // Control frames are read before the message is complete, and a close frame is the end.
            (
                [start("a"), ServerFrame.ping("1"), ServerFrame.pong("2"), more("b"), ServerFrame.ping(""), end("c")],
                [.ping("1"), .pong("2"), .ping(""), .text("abc")]
            ),
            ([start("a"), ServerFrame.close(1001), end("b")], [.close(1001, "")]),
        ] as [([[UInt8]], [Heard])])
    func `Fragments are joined to a message, and control frames amid them are read at once`(frames: [[UInt8]], heard: [Heard]) {
        #expect(Heard.reading(Array(frames.joined())) == heard)
    }

    private static func start(_ text: String) -> [UInt8] { ServerFrame.text(text, isFinal: false) }
    private static func more(_ text: String) -> [UInt8] { ServerFrame.more(text, isFinal: false) }
    private static func end(_ text: String) -> [UInt8] { ServerFrame.more(text, isFinal: true) }

    // Proves W5.19.
    @Test func `A continuation after a message's end is refused`() {
        let bytes = Self.start("a") + Self.end("b") + Self.end("c")
        #expect(Heard.reading(bytes) == [.text("ab"), .violation(.continuationWithoutStart)])
    }

    @Test func `A message of the maximum size is read, in one frame or in fragments, even if its length has 63 bits`() {
        let payload = [UInt8](repeating: 0x61, count: 300)
        #expect(Heard.reading(ServerFrame.binary(payload), maximumSize: 300) == [.binary(payload)])
        let fragments = ServerFrame.binary(Array(payload[..<299]), isFinal: false) + Self.more("") + Self.end("a")
        #expect(Heard.reading(fragments, maximumSize: 300) == [.binary(payload)])
        #expect(Heard.reading([0x82, 127, 0x7F] + [UInt8](repeating: 0xFF, count: 7), maximumSize: .max) == [])
    }

    // Proves W5.21.
    @Test(arguments: [8, 9, 10] as [UInt8])
    func `A control frame of 125 bytes is read`(opcode: UInt8) {
        let payload = [0x03, 0xE8] + [UInt8](repeating: 0x61, count: 123)
        let heard = Heard.reading(ServerFrame(opcode: opcode, payload: payload).bytes)
        #expect(heard.count == 1 && heard != [.violation(.controlFrameTooLong)])
    }

    // Proves W7.13, W7.14.
    @Test func `A close code is accepted only if it is in 1000-1003, 1007-1014, or 3000-4999`() {
        let allowed = (Array(UInt16.min...6000) + [.max]).filter { Heard.reading(ServerFrame.close($0)) == [.close($0, "")] }
        #expect(allowed == Array(1000...1003) + Array(1007...1014) + Array(3000...4999))
    }
}
