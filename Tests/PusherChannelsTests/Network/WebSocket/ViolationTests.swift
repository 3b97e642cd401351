import Testing

@testable import PusherChannels

/// The frames that a server may not send, and the close codes it receives for them: RFC 6455, 7.1.7 and 7.4.1.
@Suite struct ViolationTests {
    /// A size limit that a frame with an extended length field can stay below.
    private static let limit = 200

    // Proves W7.7, W7.8, W7.15, W10.4.
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
            (ServerFrame(opcode: 8, payload: [3, 0xE8, 0xFF]).bytes, .invalidCloseReason, 1007),
            (ServerFrame(opcode: 1, payload: [0xFF]).bytes, .invalidText, 1007),
            ([0x81, 126, 0, 201], .messageTooLarge(limit: limit), 1009),
        ] as [([UInt8], ProtocolViolation, UInt16)])
    func section7_4_1_everyViolationIsToldAndEndsTheConnection(bytes: [UInt8], violation: ProtocolViolation, code: UInt16) {
        var rig = ConversationRig(maximumSize: Self.limit)
        let did = rig.receive(bytes + ServerFrame.text("more"))
        #expect(did == [.wrote([.close(code, violation.reason)]), .reported(.failed(violation.failure)), .closedStream])
        #expect(rig.receive(ServerFrame.close(1000)) == [])
        #expect(rig.send("more") == [])
        #expect(rig.streamEnds() == [])
    }

    // Proves W5.26, W7.10.
    @Test func violationAfterOurCloseIsToldNobody() {
        var rig = ConversationRig()
        _ = rig.close(1000, "bye")
        #expect(rig.receive(ServerFrame(opcode: 3, payload: []).bytes + ServerFrame.close(1000)).count == 2)
        #expect(rig.receive(ServerFrame.close(1000)) == [])
    }
}

@Suite struct ExactTextTests {
    // Proves W4.19.
    @Test func caseIsThatOfASCIILetters() {
        #expect("AMZ amz".isSameWord(as: "amz AMZ"))
        for (one, other) in [("@", "`"), ("[", "{"), ("\u{212A}", "k"), ("É", "é"), ("a", "ab"), ("", "a")] {
            #expect(!one.isSameWord(as: other))
        }
    }

    // Proves W4.19.
    @Test func exactIsTheSameBytes() {
        #expect("é".hasBytes(of: "é") && "".hasBytes(of: ""))
        for (one, other) in [("\u{212A}", "K"), ("e\u{301}", "é"), ("a", "A"), ("a", "ab")] {
            #expect(!one.hasBytes(of: other))
        }
    }
}
