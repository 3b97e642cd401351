import Testing

@testable import PusherChannels

/// A read may end anywhere, in a header, a length or a payload, without changing the events.
@Suite struct SplitTests {
    /// Frames of every kind, with and without a violation at the end.
    static let transcripts: [[UInt8]] = [
        ServerFrame.text("Hello") + ServerFrame.text("") + ServerFrame.binary([1, 0xFF]) + ServerFrame.ping("p")
            + ServerFrame.pong("") + ServerFrame.close(4100, "later – please"),
        ServerFrame.text("é", isFinal: false) + ServerFrame.ping("first") + ServerFrame.more("🙂", isFinal: false)
            + ServerFrame.ping("second") + ServerFrame.more("", isFinal: false) + ServerFrame.more("end", isFinal: true)
            + ServerFrame.text("next") + [0x88, 0],
        ServerFrame.text(String(repeating: "a – ", count: 30)) + ServerFrame.binary([UInt8](repeating: 9, count: 130)),
        ServerFrame.binary([], isFinal: false) + ServerFrame.more("", isFinal: true) + ServerFrame.text("a")
            + ServerFrame.more("b", isFinal: true) + ServerFrame.text("never"),
        ServerFrame.text("a") + ServerFrame(opcode: 1, payload: [0x61, 0xE2, 0x82, 0x41, 0x42]).bytes + ServerFrame.text("b"),
        ServerFrame.text("a", isFinal: false) + ServerFrame.text("b"),
        ServerFrame.ping("a") + [0x82, 126, 0, 5, 1, 2, 3, 4, 5],
        ServerFrame.text("a", isFinal: false) + [0x80, 127, 0, 0, 0, 0, 0, 16, 0, 1] + ServerFrame.ping("x"),
        ServerFrame.text("a") + ServerFrame.close(1006, "abnormal") + ServerFrame.text("b"),
        ServerFrame.text("a") + ServerFrame(opcode: 9, payload: [], isMasked: true).bytes + ServerFrame.text("b"),
    ]

    // Proves W5.16.
    @Test(arguments: transcripts)
    func `Frames are read the same byte by byte and split in two anywhere`(bytes: [UInt8]) {
        let whole = Heard.reading(bytes)
        #expect(whole.count >= 1)
        #expect(Heard.reading(bytes.map { [$0] }) == whole)
        #expect(Heard.reading(bytes.flatMap { [[$0], []] }) == whole)
        for first in 0...bytes.count {
            #expect(Heard.reading([Array(bytes[..<first]), Array(bytes[first...])]) == whole)
        }
    }

    // Proves W5.8, W5.16.
    @Test func `A frame header of any length may be split between two reads`() {
        for size in [0, 125, 126, 65535, 65536] {
            let bytes = ServerFrame.binary([UInt8](repeating: 1, count: size))
            for end in 0...min(14, bytes.count) {
                #expect(Heard.reading([Array(bytes[..<end]), Array(bytes[end...])]) == Heard.reading(bytes))
            }
        }
    }

    // Proves W5.13, W5.16.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func `Random messages are read as they were framed, however the bytes are split`(seed: UInt64) {
        var traffic = RandomTraffic(seed: seed)
        for _ in 0..<10 {
            let (bytes, expected) = traffic.next()
            #expect(Heard.reading(traffic.cut(bytes)) == expected)
        }
    }
}

/// Valid traffic from a server and ways to split it, deterministic for each seed.
struct RandomTraffic {
    private var generator: SplitMix64
    private static let alphabet: [Character] = ["a", "b", " ", "é", "€", "한", "🙂", "\u{10FFFF}", "\u{0}"]

    init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
    }

    mutating func below(_ bound: Int) -> Int {
        Int.random(in: 0..<max(bound, 1), using: &generator)
    }

    private mutating func text(upTo length: Int) -> String {
        String((0..<below(length + 1)).map { _ in Self.alphabet[below(Self.alphabet.count)] })
    }

    /// Returns some messages, whole and in fragments, with control frames between and within them.
    mutating func next() -> (bytes: [UInt8], heard: [Heard]) {
        var bytes: [UInt8] = []
        var heard: [Heard] = []
        for _ in 0..<below(8) {
            let isText = below(3) > 0
            let payload = isText ? Array(text(upTo: below(8) == 0 ? 800 : 50).utf8) : (0..<below(300)).map { UInt8($0 & 0xFF) }
            var rest = payload[...]
            var opcode: UInt8 = isText ? 1 : 2
            while below(3) == 0 {
                let part = rest.prefix(below(rest.count + 1))
                rest = rest.dropFirst(part.count)
                bytes += ServerFrame(opcode: opcode, payload: Array(part), isFinal: false).bytes
                opcode = 0
                addControl(&bytes, &heard)
            }
            bytes += ServerFrame(opcode: opcode, payload: Array(rest)).bytes
            heard.append(isText ? .text(String(decoding: payload, as: UTF8.self)) : .binary(payload))
            addControl(&bytes, &heard)
        }
        return (bytes, heard)
    }

    private mutating func addControl(_ bytes: inout [UInt8], _ heard: inout [Heard]) {
        for _ in 0..<below(3) {
            let payload = text(upTo: 20)
            let isPing = below(2) == 0
            bytes += isPing ? ServerFrame.ping(payload) : ServerFrame.pong(payload)
            heard.append(isPing ? .ping(payload) : .pong(payload))
        }
    }

    mutating func cut(_ bytes: [UInt8]) -> [[UInt8]] {
        let step = 1 + below(bytes.count)
        var rest = bytes[...]
        var pieces: [[UInt8]] = []
        while !rest.isEmpty {
            pieces.append(Array(rest.prefix(1 + below(step))))
            rest = rest.dropFirst(pieces[pieces.count - 1].count)
        }
        return pieces
    }
}
