import Testing

@testable import PusherChannels

/// A reader buffers only bytes of messages that arrive in parts, and only as long as necessary.
@Suite struct ByteAssemblyTests {
    private func read(_ bytes: [UInt8], with reader: inout MessageReader) throws -> Int {
        try bytes.withUnsafeBytes { bytes in
            var cursor = ByteCursor(bytes)
            var events = 0
            while try reader.next(in: &cursor) != nil { events += 1 }
            return events
        }
    }

    @Test func `Messages that arrive whole are read without being buffered`() throws {
        var reader = MessageReader(maximumSize: 1 << 20)
        let bytes = ServerFrame.text("a") + ServerFrame.ping("b") + ServerFrame.text(String(repeating: "c", count: 70_000))
        #expect(try read(bytes, with: &reader) == 3)
        #expect(reader.capacity == 0)
    }

    // Proves W10.2.
    @Test func `The reader reserves memory for bytes that arrived, not for an announced length`() throws {
        var reader = MessageReader(maximumSize: 1 << 40)
        #expect(try read([0x82, 127, 0, 0, 0, 0x40, 0, 0, 0, 0] + [1, 2, 3], with: &reader) == 0)
        #expect(reader.capacity == 1024)
    }

    // Proves W10.1.
    @Test func `A message above the limit is refused before any of it is buffered`() {
        var reader = MessageReader(maximumSize: 2000)
        let bytes = ServerFrame.binary([UInt8](repeating: 1, count: 2001))
        #expect(throws: ProtocolViolation.messageTooLarge(limit: 2000)) { try read(Array(bytes.dropLast()), with: &reader) }
        #expect(reader.capacity == 0)
    }

    // Proves W10.1.
    @Test func `A message that arrives in parts takes no more memory than the limit`() throws {
        var reader = MessageReader(maximumSize: 10_000)
        let bytes = ServerFrame.binary([UInt8](repeating: 1, count: 9_999))
        for start in stride(from: 0, to: bytes.count, by: 700) {
            _ = try read(Array(bytes[start..<min(start + 700, bytes.count)]), with: &reader)
            #expect(reader.capacity <= 10_000)
            reader.release()
        }
        #expect(reader.capacity == 10_000)
    }

    @Test(arguments: [(65_536, 65_536), (65_538, 0)])
    func `The reader keeps a buffer of up to 64 KiB for later messages and frees a larger one`(size: Int, kept: Int) throws {
        var reader = MessageReader(maximumSize: 1 << 20)
        let bytes = ServerFrame.binary([UInt8](repeating: 1, count: size))
        #expect(try read(Array(bytes.dropLast(size / 2)), with: &reader) == 0)
        #expect(try read(Array(bytes.suffix(size / 2)), with: &reader) == 1)
        reader.release()
        #expect(reader.capacity == kept)
    }
}
