import Testing

@testable import PusherChannels

/// The upgrade: RFC 6455, 1.3 and 4.1.
@Suite struct UpgradeHandshakeTests {
    /// "the sample nonce", the RFC's example.
    private static let nonce: (UInt64, UInt64) = (0x7468_6520_7361_6D70, 0x6C65_206E_6F6E_6365)
    private static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    private func result(
        status: Int = 101, _ changes: [(String, String?)] = [], adding added: [(String, String)] = [],
        asking subprotocols: String? = nil
    ) -> Result<String?, UpgradeRefusal> {
        var fields = [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", Self.accept)]
        for (name, value) in changes {
            fields.removeAll { $0.0 == name }
            if let value { fields.append((name, value)) }
        }
        let reply = ResponseHead(status: status, fields: (fields + added).map { (name: $0.0, value: $0.1) })
        let handshake = UpgradeHandshake(nonce: Self.nonce, subprotocols: subprotocols)
        do throws(UpgradeRefusal) {
            return .success(try handshake.check(reply))
        } catch {
            return .failure(error)
        }
    }

    // MARK: Requests

    // Proves W4.16.
    @Test func section1_3_keyAndAcceptAreThoseOfTheExample() {
        let handshake = UpgradeHandshake(nonce: Self.nonce)
        #expect(handshake.key == "dGhlIHNhbXBsZSBub25jZQ==")
        #expect(handshake.accept == Self.accept)
    }

    // Proves W4.7.
    @Test func section4_1_keyIsOf16Bytes() {
        #expect(UpgradeHandshake(nonce: (0x0102_0304_0506_0708, 0x090A_0B0C_0D0E_0F10)).key == "AQIDBAUGBwgJCgsMDQ4PEA==")
        #expect(UpgradeHandshake(nonce: (0, 0)).key == "AAAAAAAAAAAAAAAAAAAAAA==")
    }

    // Proves W4.6, W4.9, W9.1.
    @Test func section4_1_requestHasTheFieldsOfAnUpgrade() {
        let fields = UpgradeHandshake(nonce: Self.nonce).fields.map { "\($0.name): \($0.value)" }
        #expect(
            fields == [
                "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            ])
        let asking = UpgradeHandshake(nonce: Self.nonce, subprotocols: "a,, b ").fields
        #expect(asking.last?.name == "Sec-WebSocket-Protocol")
        #expect(asking.last?.value == "a, b")
    }

    // Proves W4.9.
    @Test func section4_1_eachSubprotocolIsAskedForOnce() {
        let fields = UpgradeHandshake(nonce: Self.nonce, subprotocols: "b, a,b ,A,a").fields
        #expect(fields.last?.value == "b, a, A")
        #expect(UpgradeHandshake(nonce: Self.nonce, subprotocols: " , ").fields.count == 4)
    }

    // MARK: Responses

    // Proves W4.16.
    @Test func section4_1_replyOfTheExampleIsTaken() {
        #expect(result() == .success(nil))
    }

    // Proves W4.14, W4.15, W4.16.
    @Test(arguments: [
        [("Upgrade", "WebSocket")], [("Upgrade", "\twebsocket \r\n")],
        [("Connection", "upgrade")], [("Connection", "keep-alive, UPGRADE")], [("Connection", " ,Upgrade,")],
        [("Sec-WebSocket-Accept", " \(accept)\t")],
        [("Sec-WebSocket-Extensions", "")], [("Sec-WebSocket-Extensions", " , ")], [("Sec-WebSocket-Protocol", "")],
        [("Content-Length", "0")],
    ])
    func section4_1_caseListsAndSpaceMakeNoDifference(changes: [(String, String)]) {
        #expect(result(changes.map { ($0.0, Optional($0.1)) }) == .success(nil))
    }

    // Proves W4.14, W4.15.
    @Test func section4_1_fieldsMayBeRepeatedAndInAnyCase() {
        let reply = [("connection", "keep-alive"), ("CONNECTION", "upgrade"), ("UPGRADE", "websocket")]
        #expect(result([("Connection", nil), ("Upgrade", nil)], adding: reply) == .success(nil))
    }

    // Proves W4.16.
    @Test func section4_1_acceptMayNotBeRepeated() {
        #expect(result(adding: [("sec-websocket-accept", Self.accept)]) == .failure(.wrongAccept))
        #expect(result(adding: [("sec-websocket-accept", "")]) == .failure(.wrongAccept))
    }

    // Proves W4.14.
    @Test func section4_1_everyUpgradeFieldNamesWebSocket() {
        #expect(result(adding: [("upgrade", "WEBSOCKET")]) == .success(nil))
        #expect(result(adding: [("upgrade", "h2c")]) == .failure(.noUpgrade))
        #expect(result(adding: [("upgrade", "")]) == .failure(.noUpgrade))
    }

    /// HTTP doesn't use Unicode's lowercase mapping or equivalences (RFC 9110, 5.1).
    // Proves W4.19.
    @Test func section4_1_fieldNamesAreASCII() {
        let name = "Sec-WebSoc\u{212A}et-Accept"
        #expect(result([("Sec-WebSocket-Accept", nil)], adding: [(name, Self.accept)]) == .failure(.wrongAccept))
        #expect(result(adding: [(name, "of no account")]) == .success(nil))
    }

    // Proves W4.13.
    @Test(arguments: [0, 100, 200, 204, 301, 400, 401, 403, 426, 503])
    func section4_1_otherStatusIsRefused(status: Int) {
        #expect(result(status: status) == .failure(.status(status)))
        let failure = UpgradeRefusal.status(status).failure(endpoint: "host:80")
        #expect(failure.kind == .upgradeRefused(status: status))
        #expect(failure.message.contains("HTTP \(status)"))
        #expect(failure.message.contains("redirect") == (status == 301))
    }

    // Proves W4.14, W4.15, W4.16, W4.17, W4.18, W4.19, W4.20.
    @Test(
        arguments: [
            ("Upgrade", nil, .noUpgrade), ("Upgrade", "", .noUpgrade), ("Upgrade", "h2c", .noUpgrade),
            ("Upgrade", "websockets", .noUpgrade), ("Upgrade", "web socket", .noUpgrade),
            ("Upgrade", "h2c, websocket", .noUpgrade), ("Upgrade", "websocket,", .noUpgrade),
            ("Upgrade", "websoc\u{212A}et", .noUpgrade),
            ("Connection", nil, .noConnectionUpgrade), ("Connection", "close", .noConnectionUpgrade),
            ("Connection", "no-upgrade", .noConnectionUpgrade),
            ("Sec-WebSocket-Accept", nil, .wrongAccept), ("Sec-WebSocket-Accept", "", .wrongAccept),
            ("Sec-WebSocket-Accept", accept.lowercased(), .wrongAccept),
            ("Sec-WebSocket-Accept", accept + "=", .wrongAccept),
            ("Sec-WebSocket-Accept", "dGhlIHNhbXBsZSBub25jZQ==", .wrongAccept),
            ("Sec-WebSocket-Accept", "\(accept), \(accept)", .wrongAccept),
            ("Sec-WebSocket-Accept", "\(accept),", .wrongAccept), ("Sec-WebSocket-Accept", ",\(accept)", .wrongAccept),
            ("Sec-WebSocket-Accept", accept.replacing("K", with: "\u{212A}"), .wrongAccept),
            ("Content-Length", "1", .body("Content-Length")), ("Content-Length", "0, 7", .body("Content-Length")),
            ("content-length", "", .body("Content-Length")),
            ("Transfer-Encoding", "chunked", .body("Transfer-Encoding")),
            ("Sec-WebSocket-Extensions", "permessage-deflate", .unwantedExtension("permessage-deflate")),
            ("Sec-WebSocket-Protocol", "chat", .unwantedSubprotocol("chat")),
        ] as [(String, String?, UpgradeRefusal)])
    func section4_1_otherReplyIsRefused(name: String, value: String?, refusal: UpgradeRefusal) {
        #expect(result([(name, value)]) == .failure(refusal))
        #expect(refusal.failure(endpoint: "host:80").kind == .protocolViolation)
        #expect(refusal.failure(endpoint: "host:80").message.hasPrefix("host:80 doesn't answer like a WebSocket server: "))
    }

    // Proves W4.18, W4.19.
    @Test func section4_1_subprotocolIsOneOfThoseAskedFor() {
        #expect(result(adding: [("Sec-WebSocket-Protocol", " b ")], asking: "a, b") == .success("b"))
        #expect(result(asking: "a, b") == .success(nil))
        #expect(result(adding: [("Sec-WebSocket-Protocol", "c")], asking: "a, b") == .failure(.unwantedSubprotocol("c")))
        let both = result(adding: [("Sec-WebSocket-Protocol", "a, b")], asking: "a, b")
        #expect(both == .failure(.unwantedSubprotocol("a, b")))
        let twice = [("Sec-WebSocket-Protocol", "a"), ("sec-websocket-protocol", "a")]
        #expect(result(adding: twice, asking: "a, b") == .failure(.unwantedSubprotocol("a, a")))
        #expect(result(adding: [("Sec-WebSocket-Protocol", "A")], asking: "a") == .failure(.unwantedSubprotocol("A")))
        let kelvin = result(adding: [("Sec-WebSocket-Protocol", "\u{212A}")], asking: "K")
        #expect(kelvin == .failure(.unwantedSubprotocol("\u{212A}")))
    }
}
