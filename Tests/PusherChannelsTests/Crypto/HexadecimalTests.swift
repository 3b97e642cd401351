import Testing

@testable import PusherChannels

@Suite struct HexadecimalTests {
    @Test(
        arguments: [([], ""), ([0], "00"), ([0x0F, 0xF0], "0ff0"), ([0xDE, 0xAD, 0xBE, 0xEF], "deadbeef")] as [([UInt8], String)])
    func bytesAreWrittenInLowercase(bytes: [UInt8], text: String) {
        #expect(hexadecimal(bytes) == text)
    }

    @Test func everyByteIsReadBack() {
        for byte in UInt8.min...UInt8.max {
            let text = hexadecimal(CollectionOfOne(byte))
            #expect(text.utf8.count == 2)
            #expect(UInt8(text, radix: 16) == byte)
        }
    }
}
