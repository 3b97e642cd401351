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
            ([0x8A, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], .pong("Hello")),
            ([0x82, 0x7E, 0x01, 0x00] + small, .binary(small)),
            ([0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + large, .binary(large)),
        ] as [([UInt8], Heard)])
    func `The RFC's examples of whole and fragmented texts, of pings and pongs, and of large messages are read`(
        bytes: [UInt8], heard: Heard
    ) {
        #expect(Heard.reading(bytes) == [heard])
    }

    private static let small = [UInt8](0...255)
    private static let large = [UInt8](repeating: 7, count: 65536)

    // Proves W5.2.
    @Test(arguments: [0x0, 0x1, 0x2, 0x8, 0x9, 0xA] as [UInt8])
    func `A masked frame of any kind is refused`(opcode: UInt8) {
        let frame = ServerFrame(opcode: opcode, payload: [], isMasked: true)
        #expect(Heard.reading(frame.bytes) == [.violation(.maskedFrame)])
    }

    // Proves W5.4.
    @Test(arguments: [1, 2, 4, 7] as [UInt8])
    func `A frame with a reserved bit is refused`(bits: UInt8) {
        for opcode in [0x0, 0x1, 0x2, 0x8, 0x9, 0xA] as [UInt8] {
            let frame = ServerFrame(opcode: opcode, payload: [], reserved: bits)
            #expect(Heard.reading(frame.bytes) == [.violation(.reservedBits)])
        }
    }

    // Proves W5.5.
    @Test(arguments: [0x3, 0x4, 0x5, 0x6, 0x7, 0xB, 0xC, 0xD, 0xE, 0xF] as [UInt8])
    func `A frame with an unknown opcode is refused`(opcode: UInt8) {
        let bytes = ServerFrame.text("before") + ServerFrame(opcode: opcode, payload: [1]).bytes + ServerFrame.text("after")
        #expect(Heard.reading(bytes) == [.text("before"), .violation(.unknownOpcode(opcode))])
    }

    // Proves W5.8.
    @Test(arguments: [0, 1, 125, 126, 127, 255, 256, 65535, 65536, 65537])
    func `A payload of any size ends where its header says, and the next frame follows`(size: Int) {
        let payload = [UInt8](repeating: 0x61, count: size)
        let bytes = ServerFrame.binary(payload) + ServerFrame.text("next")
        #expect(Heard.reading(bytes) == [.binary(payload), .text("next")])
    }

    // Proves W5.7.
    @Test func `A frame whose length isn't in its shortest form is refused`() {
        let zeros: [UInt8] = [0, 0, 0, 0, 0, 0]
        #expect(Heard.reading([0x81, 126, 0, 0]) == [.violation(.lengthNotMinimal)])
        #expect(Heard.reading([0x81, 126, 0, 125]) == [.violation(.lengthNotMinimal)])
        #expect(Heard.reading([0x81, 126, 0, 126]) == [])
        #expect(Heard.reading([0x81, 127] + zeros + [0, 126]) == [.violation(.lengthNotMinimal)])
        #expect(Heard.reading([0x81, 127] + zeros + [0xFF, 0xFF]) == [.violation(.lengthNotMinimal)])
        #expect(Heard.reading([0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]) == [])
    }

    // Proves W5.7.
    @Test func `A frame whose length has more than 63 bits is refused`() {
        let ones = [UInt8](repeating: 0xFF, count: 7)
        #expect(Heard.reading([0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]) == [.violation(.lengthOutOfRange)])
        #expect(Heard.reading([0x82, 127, 0xFF] + ones) == [.violation(.lengthOutOfRange)])
        let largest: [UInt8] = [0x82, 127, 0x7F] + ones
        #expect(Heard.reading(largest) == [.violation(.messageTooLarge(limit: 1 << 20))])
        #expect(Heard.reading(largest, maximumSize: .max) == [])
    }

    // Proves W5.13, W5.14, W5.15, W5.17.
    @Test(
        arguments: [
            (
                [start("a"), ServerFrame.more("", isFinal: false), ServerFrame.more("b", isFinal: false), end("c")],
                [.text("abc")]
            ),
            ([start(""), ServerFrame.more("", isFinal: false), end(""), start(""), end("")], [.text(""), .text("")]),
            // A message has the kind of its first fragment.
            (
                [ServerFrame.binary([0xFF], isFinal: false), end("a"), ServerFrame.text("b")],
                [.binary([0xFF, 0x61]), .text("b")]
            ),
            // Control frames are read before the message is complete, and a close frame is the end.
            (
                [
                    start("a"), ServerFrame.ping("1"), ServerFrame.pong("2"), ServerFrame.more("b", isFinal: false),
                    ServerFrame.ping(""), end("c"),
                ], [.ping("1"), .pong("2"), .ping(""), .text("abc")]
            ),
            ([start("a"), ServerFrame.close(1001), end("b")], [.close(1001, "")]),
        ] as [([[UInt8]], [Heard])])
    func `Fragments are joined to one message, and control frames between them are read at once`(
        frames: [[UInt8]], heard: [Heard]
    ) {
        #expect(Heard.reading(Array(frames.joined())) == heard)
    }

    private static func start(_ text: String) -> [UInt8] { ServerFrame.text(text, isFinal: false) }
    private static func end(_ text: String) -> [UInt8] { ServerFrame.more(text, isFinal: true) }

    // Proves W5.19.
    @Test(arguments: [true, false])
    func `A continuation frame without a message to continue is refused`(isFinal: Bool) {
        let more = ServerFrame.more("a", isFinal: isFinal)
        #expect(Heard.reading(more) == [.violation(.continuationWithoutStart)])
        let late = ServerFrame.text("a", isFinal: false) + ServerFrame.more("b", isFinal: true) + more
        #expect(Heard.reading(late) == [.text("ab"), .violation(.continuationWithoutStart)])
    }

    // Proves W5.18.
    @Test(arguments: [true, false])
    func `A new message inside a fragmented one is refused`(isFinal: Bool) {
        for frame in [ServerFrame.text("b", isFinal: isFinal), ServerFrame.binary([], isFinal: isFinal)] {
            let bytes = ServerFrame.text("a", isFinal: false) + frame
            #expect(Heard.reading(bytes) == [.violation(.messageInsideMessage)])
        }
    }

    @Test func `A message of the maximum size is read, in one frame or in fragments`() {
        let payload = [UInt8](repeating: 0x61, count: 300)
        #expect(Heard.reading(ServerFrame.binary(payload), maximumSize: 300) == [.binary(payload)])
        let fragments =
            ServerFrame.binary(Array(payload[..<299]), isFinal: false) + ServerFrame.more("", isFinal: false)
            + ServerFrame.more("a", isFinal: true)
        #expect(Heard.reading(fragments, maximumSize: 300) == [.binary(payload)])
    }

    // Proves W10.1.
    @Test func `A message above the maximum size is refused with 1009 by its header`() {
        #expect(Heard.reading([0x81, 126, 1, 45], maximumSize: 300) == [.violation(.messageTooLarge(limit: 300))])
        let fragments = ServerFrame.binary([UInt8](repeating: 1, count: 200), isFinal: false) + [0x80, 101]
        #expect(Heard.reading(fragments, maximumSize: 300) == [.violation(.messageTooLarge(limit: 300))])
        #expect(ProtocolViolation.messageTooLarge(limit: 300).code == 1009)
    }
}
