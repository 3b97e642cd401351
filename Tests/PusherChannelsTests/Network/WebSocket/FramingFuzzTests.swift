import Testing

@testable import PusherChannels

/// Any input from a server leads to events or to one violation.
@Suite struct FramingFuzzTests {
    private static let streams: [[UInt8]] = [
        ServerFrame.text("Hello") + ServerFrame.ping("p") + ServerFrame.text("é"),
        ServerFrame.text("a", isFinal: false) + ServerFrame.pong("") + ServerFrame.more("b", isFinal: true),
        ServerFrame.binary([0xFF, 0x00]) + ServerFrame.close(1000, "bye"),
        [0x81, 126, 0, 126] + [UInt8](repeating: 0x61, count: 20), [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0, 1, 2, 3],
    ]

    private struct Outcome {
        var events = 0
        var violations = 0
        var eventsAfterTheEnd = 0
    }

    private func add(_ piece: UnsafeRawBufferPointer, to reader: inout MessageReader, _ outcome: inout Outcome) {
        var cursor = ByteCursor(piece)
        while true {
            do throws(ProtocolViolation) {
                guard let event = try reader.next(in: &cursor) else { break }
                outcome.events += 1
                if outcome.violations > 0 { outcome.eventsAfterTheEnd += 1 }
                if case .message(_, let bytes) = event, bytes.count > 200 { outcome.eventsAfterTheEnd += 1 }
            } catch {
                outcome.violations += 1
            }
        }
        reader.release()
    }

    // Proves W10.4.
    @Test(arguments: 0..<4 as Range<UInt64>)
    func `A mutated stream of frames leads to events and at most one violation`(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var total = Outcome()
        for round in 0..<50_000 {
            var bytes = Self.streams[round % Self.streams.count]
            // All choices of a round come from one number, because drawing numbers takes most of this test's time.
            var choice = generator.next()
            for _ in 0...Int(choice & 1) {
                let place = Int(choice >> 1 & 0xFF) % bytes.count
                switch choice >> 9 & 3 {
                case 0: bytes[place] ^= 1 << UInt8(choice >> 11 & 7)
                case 1: bytes.remove(at: place)
                default: bytes[place] = UInt8(choice >> 14 & 0xFF)
                }
                choice = choice >> 22 | choice << 42
            }
            var outcome = Outcome()
            var reader = MessageReader(maximumSize: 200)
            let split = Int(choice >> 3 & 0xFF) % (bytes.count + 1)
            bytes.withUnsafeBytes { bytes in
                add(UnsafeRawBufferPointer(rebasing: bytes[..<split]), to: &reader, &outcome)
                add(UnsafeRawBufferPointer(rebasing: bytes[split...]), to: &reader, &outcome)
            }
            if outcome.violations > 1 || outcome.eventsAfterTheEnd > 0 { Issue.record("\(bytes) split at \(split)") }
            total.events += outcome.events
            total.violations += outcome.violations
        }
        // Some of the streams must be refused and some understood.
        #expect(total.events > 20_000)
        #expect(total.violations > 5_000 && total.violations < 50_000)
    }
}
