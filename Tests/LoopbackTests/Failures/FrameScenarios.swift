#if os(Linux)
@testable import PusherChannels

extension FailureScenario {
    static let frames =
        [
            ("A masked frame", [0x81, 0x82, 1, 2, 3, 4, 0x69, 0x6B]),
            ("A reserved bit is set", [0xC1, 2, 0x68, 0x69]),
            ("An opcode that means nothing", [0x83, 0]),
            ("A length that has a shorter form", [0x81, 126, 0, 2, 0x68, 0x69]),
            ("A length of more than 63 bits", [0x81, 127, 0xFF, 0, 0, 0, 0, 0, 0, 0]),
            ("A ping of more than 125 bytes", [0x89, 126, 0, 126]),
            ("A ping in parts", [0x09, 0]),
            ("A continuation of nothing", [0x80, 0]),
            ("A new message inside one in parts", [0x01, 1, 0x61, 0x81, 1, 0x62]),
            ("A close frame with half a code", [0x88, 1, 3]),
            ("A close code that may not be sent", [0x88, 2, 0x03, 0xED]),
            ("A close reason that isn't UTF-8", [0x88, 4, 0x03, 0xE8, 0xC3, 0x28]),
            ("A text that isn't UTF-8", [0x81, 4, 0x22, 0xC3, 0x28, 0x22]),
            ("A message beyond the limit", [0x81, 126, 0x04, 0x01]),
        ].map { name, bytes in FailureScenario(name) { try await received(bytes) } }
        + [
            FailureScenario("The connection ends without a close frame") { try await received([0x81, 0], then: .finish) },
            FailureScenario("The connection ends in the middle of a frame") {
                try await received([0x81, 5, 0x68], then: .finish)
            },
            FailureScenario("The connection is reset") { try await received([], then: .reset) },
        ]

    private static func received(_ bytes: [Int], then ending: RawServer.Ending = .silence) async throws -> FailureReport {
        let server = try RawServer.replying(followedBy: bytes.map { UInt8($0) }, then: ending)
        defer { withExtendedLifetime(server) {} }
        var request = request(port: server.port)
        request.maximumMessageSize = 1024
        return try await failure(of: request, ports: [server.port: 443])
    }
}
#endif
