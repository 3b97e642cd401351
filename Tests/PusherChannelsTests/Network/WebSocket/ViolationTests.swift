import Testing

@testable import PusherChannels

/// What a server may not send, and the close codes it receives for it: RFC 6455, 5, 7.1.7, 7.4.1 and 8.1.
@Suite struct ViolationTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let violation: ProtocolViolation
        let code: UInt16
        let inputs: [[UInt8]]

        init(_ description: String, _ violation: ProtocolViolation, code: UInt16 = 1002, _ inputs: [[UInt8]]) {
            (testDescription, self.violation, self.code, self.inputs) = (description, violation, code, inputs)
        }
    }

    /// A size limit that a frame with an extended length field can stay below.
    private static let limit = 200
    private static let ones = [UInt8](repeating: 0xFF, count: 7)
    private static let kinds: [UInt8] = [0x0, 0x1, 0x2, 0x8, 0x9, 0xA]
    private static let controls: [UInt8] = [0x8, 0x9, 0xA]
    private static let begun = ServerFrame.text("a", isFinal: false)
    private static let cut = ServerFrame(opcode: 1, payload: [0xE2], isFinal: false).bytes

    static let framing: [Case] = [
        Case("a masked frame", .maskedFrame, kinds.map { ServerFrame(opcode: $0, payload: [], isMasked: true).bytes }),
        Case(
            "a reserved bit", .reservedBits,
            kinds.flatMap { kind in [1, 2, 4, 7].map { ServerFrame(opcode: kind, payload: [], reserved: $0).bytes } }),
        Case(
            "a length that has a shorter form", .lengthNotMinimal,
            [
                [0x81, 126, 0, 0], [0x81, 126, 0, 125], [0x81, 127, 0, 0, 0, 0, 0, 0, 0, 126],
                [0x81, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF],
            ]),
        Case(
            "a length of more than 63 bits", .lengthOutOfRange,
            [[0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], [0x82, 127, 0xFF] + ones]),
        Case(
            "a control frame of more than 125 bytes", .controlFrameTooLong,
            controls.flatMap {
                [
                    ServerFrame(opcode: $0, payload: [0x03, 0xE8] + [UInt8](repeating: 0x61, count: 124)).bytes,
                    [0x80 | $0, 127, 0, 0, 0, 0, 0, 1, 0, 0],
                ]
            }),
        Case(
            "a fragmented control frame", .fragmentedControlFrame,
            controls.map { ServerFrame(opcode: $0, payload: [], isFinal: false).bytes }),
        Case(
            "a continuation outside a message", .continuationWithoutStart,
            [true, false].map { ServerFrame.more("a", isFinal: $0) }),
        Case(
            "a message inside another", .messageInsideMessage,
            [true, false].flatMap { [begun + ServerFrame.text("b", isFinal: $0), begun + ServerFrame.binary([], isFinal: $0)] }),
        Case("half a close code", .halfCloseCode, [[0x88, 1, 3]]),
        Case("the close code 1005", .invalidCloseCode(1005), [ServerFrame.close(1005)]),
        Case("the close code 65535", .invalidCloseCode(65535), [ServerFrame.close(65535)]),
    ]

    static let opcodes = [0x3, 0x4, 0x5, 0x6, 0x7, 0xB, 0xC, 0xD, 0xE, 0xF].map { (opcode: UInt8) in
        Case("the opcode \(opcode)", .unknownOpcode(opcode), [ServerFrame(opcode: opcode, payload: [1]).bytes])
    }

    static let content: [Case] = [
        Case(
            "a close reason that isn't UTF-8", .invalidCloseReason, code: 1007,
            [ServerFrame(opcode: 8, payload: [3, 0xE8, 0x61, 0xC3]).bytes]),
        // The last two are refused before their messages end.
        Case(
            "text that isn't UTF-8", .invalidText, code: 1007,
            [
                ServerFrame(opcode: 1, payload: [0xFF]).bytes, ServerFrame(opcode: 1, payload: [0xE2, 0x82]).bytes,
                cut + ServerFrame(opcode: 0, payload: [0x82]).bytes, cut + ServerFrame(opcode: 0, payload: []).bytes,
                ServerFrame(opcode: 1, payload: [0x61, 0xFF], isFinal: false).bytes, [0x81, 100, 0x61, 0xFF],
            ]),
        // The headers say it.
        Case(
            "a message above the limit", .messageTooLarge(limit: limit), code: 1009,
            [
                [0x81, 126, 0, 201], [0x82, 127, 0x7F] + ones,
                ServerFrame.binary([UInt8](repeating: 1, count: limit), isFinal: false) + [0x80, 1],
            ]),
    ]

    // Proves W5.2, W5.4, W5.5, W5.7, W5.18, W5.19, W5.21, W5.22, W5.24, W7.7, W7.8, W7.13, W7.15, W8.1, W8.4, W10.1, W10.4.
    @Test(arguments: framing + opcodes + content)
    func `Every violation is answered and reported after earlier messages are delivered, and ends the connection`(what: Case) {
        let violation = what.violation
        for bytes in what.inputs {
            #expect(Heard.reading(bytes, maximumSize: Self.limit).last == .violation(violation), "\(bytes)")
            var rig = ConversationRig(maximumSize: Self.limit)
            let did = rig.receive(ServerFrame.text("good") + bytes + ServerFrame.text("never"))
            let expected: [Did] = [
                .wrote([.close(what.code, violation.reason)]), .delivered(["good"]), .reported(.failed(violation.failure)),
                .closedStream,
            ]
            #expect(did == expected, "\(bytes)")
            #expect(rig.receive(ServerFrame.close(1000)) == [])
            #expect(rig.send("more") == [])
            #expect(rig.close(1000) == [])
            #expect(rig.timerFires() == [])
            #expect(rig.streamEnds() == [])
        }
    }

    @Test func `Every violation has a reason of its own that fits into a close frame`() {
        let known = (Self.framing + Self.opcodes + Self.content).map(\.violation)
        let violations = known + [.unknownOpcode(255), .messageTooLarge(limit: .max)]
        #expect(Set(violations.map(\.reason)).count == violations.count)
        #expect(violations.allSatisfy { (1...123).contains($0.reason.utf8.count) })
        let words = [ProtocolViolation.unknownOpcode(3), .invalidText, .messageTooLarge(limit: 200)].map(\.failure.message)
        let problems = ["unknown opcode 3", "text message is not UTF-8", "message of more than 200 bytes"]
        #expect(words == problems.map { "The server broke the WebSocket protocol: \($0)" })
    }
}
