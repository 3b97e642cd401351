import Testing

@testable import PusherChannels

/// Control frames: RFC 6455, 5.5 and 7.4.
@Suite struct ControlFrameTests {
    // Proves W5.21.
    @Test(arguments: [8, 9, 10] as [UInt8])
    func `A control frame of 125 bytes is read, and a longer one is refused`(opcode: UInt8) {
        var payload = [UInt8](repeating: 0x61, count: 125)
        payload.replaceSubrange(0..<2, with: [0x03, 0xE8])
        #expect(Heard.reading(ServerFrame(opcode: opcode, payload: payload).bytes).count == 1)
        let longer = ServerFrame(opcode: opcode, payload: payload + [0x61]).bytes
        #expect(Heard.reading(longer) == [.violation(.controlFrameTooLong)])
        #expect(Heard.reading([0x80 | opcode, 127, 0, 0, 0, 0, 0, 1, 0, 0]) == [.violation(.controlFrameTooLong)])
    }

    // Proves W5.22.
    @Test(arguments: [8, 9, 10] as [UInt8])
    func `A fragmented control frame is refused`(opcode: UInt8) {
        let frame = ServerFrame(opcode: opcode, payload: [], isFinal: false)
        #expect(Heard.reading(frame.bytes) == [.violation(.fragmentedControlFrame)])
    }

    // Proves W7.13, W7.14.
    @Test func `A close code is accepted only if it is in 1000-1003, 1007-1014, or 3000-4999`() {
        let allowed = (Array(UInt16.min...6000) + [.max]).filter { Heard.reading(ServerFrame.close($0)) == [.close($0, "")] }
        #expect(allowed == Array(1000...1003) + Array(1007...1014) + Array(3000...4999))
    }
}

/// The frames that a server may not send, and the close codes it receives for them: RFC 6455, 7.1.7 and 7.4.1.
@Suite struct ViolationTests {
    /// A size limit that a frame with an extended length field can stay below.
    private static let limit = 200

    // Proves W5.24, W7.7, W7.8, W7.13, W7.15, W10.4.
    @Test(
        arguments: [
            (ServerFrame(opcode: 1, payload: [], isMasked: true).bytes, .maskedFrame, 1002),
            (ServerFrame(opcode: 1, payload: [], reserved: 4).bytes, .reservedBits, 1002),
            (ServerFrame(opcode: 9, payload: [], reserved: 1).bytes, .reservedBits, 1002),
            (ServerFrame(opcode: 0xB, payload: []).bytes, .unknownOpcode(0xB), 1002),
            ([0x81, 126, 0, 125], .lengthNotMinimal, 1002),
            ([0x81, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], .lengthNotMinimal, 1002),
            ([0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], .lengthOutOfRange, 1002),
            (ServerFrame(opcode: 9, payload: [UInt8](repeating: 0, count: 126)).bytes, .controlFrameTooLong, 1002),
            (ServerFrame(opcode: 10, payload: [], isFinal: false).bytes, .fragmentedControlFrame, 1002),
            (ServerFrame.more("a", isFinal: true), .continuationWithoutStart, 1002),
            (ServerFrame.text("a", isFinal: false) + ServerFrame.text("b"), .messageInsideMessage, 1002),
            ([0x88, 1, 3], .halfCloseCode, 1002),
            (ServerFrame.close(1005), .invalidCloseCode(1005), 1002),
            (ServerFrame.close(65535), .invalidCloseCode(65535), 1002),
            (ServerFrame(opcode: 8, payload: [3, 0xE8, 0x61, 0xC3]).bytes, .invalidCloseReason, 1007),
            (ServerFrame(opcode: 1, payload: [0xFF]).bytes, .invalidText, 1007),
            ([0x81, 126, 0, 201], .messageTooLarge(limit: limit), 1009),
        ] as [([UInt8], ProtocolViolation, UInt16)])
    func `Every violation is answered and reported after earlier messages are delivered, and ends the connection`(
        bytes: [UInt8], violation: ProtocolViolation, code: UInt16
    ) {
        var rig = ConversationRig(maximumSize: Self.limit)
        let did = rig.receive(ServerFrame.text("good") + bytes + ServerFrame.text("never"))
        let expected: [Did] = [
            .wrote([.close(code, violation.reason)]), .delivered(["good"]), .reported(.failed(violation.failure)), .closedStream,
        ]
        #expect(did == expected)
        #expect(rig.receive(ServerFrame.close(1000)) == [])
        #expect(rig.send("more") == [])
        #expect(rig.close(1000) == [])
        #expect(rig.timerFires() == [])
        #expect(rig.streamEnds() == [])
    }
}
