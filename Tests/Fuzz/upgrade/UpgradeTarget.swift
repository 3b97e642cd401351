/// Checks a made-up response to the upgrade. The input has the requested subprotocols, the status and the fields, one per line.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let lines = FuzzInput(data, size).rest.split(separator: 10, omittingEmptySubsequences: false)
    let texts = lines.map { String(decoding: $0, as: UTF8.self) }
    let asked = texts[0]
    let status = texts.count > 1 ? Int(texts[1]) ?? 0 : 0
    let fields = texts.dropFirst(2).map { line in
        let name = line.utf8.prefix { $0 != UInt8(ascii: ":") }
        let value = line.utf8.dropFirst(name.count + 1)
        return (name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self))
    }

    // The nonce of the RFC's example.
    let handshake = UpgradeHandshake(nonce: (0x7468_6520_7361_6D70, 0x6C65_206E_6F6E_6365), subprotocols: asked)
    checkRequest(handshake)
    let expected = ReferenceResponse(status: status, fields: fields).result(asked: handshake.subprotocols)
    // The order of fields, the case of their names, and unknown fields make no difference.
    let versions = [
        fields, fields.reversed(), fields.map { (inOtherCase($0.name), $0.value) }, fields + [("X-Unknown", "websocket")],
    ]
    for fields in versions {
        let result = result(of: handshake, status, fields)
        require(result == expected, "\(status) with \(fields) is \(result), not \(expected)")
    }
    return 0
}

/// The outcome of a response: refused, or taken with or without a subprotocol.
enum UpgradeResult: Equatable {
    case refused
    case taken([UInt8]?)
}

private func result(of handshake: UpgradeHandshake, _ status: Int, _ fields: [(name: String, value: String)]) -> UpgradeResult {
    do throws(UpgradeRefusal) {
        let subprotocol = try handshake.check(ResponseHead(status: status, fields: fields))
        return .taken(subprotocol.map { Array($0.utf8) })
    } catch {
        let failure = error.failure(endpoint: "host:80")
        require(failure.message.contains("host:80"), "a refusal names the server: \(failure)")
        return .refused
    }
}

/// Checks that each field and each subprotocol is there once, and that none is empty.
private func checkRequest(_ handshake: UpgradeHandshake) {
    let names = handshake.fields.map(\.name)
    require(Set(names).count == names.count, "each field once: \(names)")
    let subprotocols = handshake.subprotocols.map { Array($0.utf8) }
    require(Set(subprotocols).count == subprotocols.count && !subprotocols.contains([]), "each subprotocol once: \(subprotocols)")
    require(names.contains("Sec-WebSocket-Protocol") == !subprotocols.isEmpty, "subprotocols are asked for if there are any")
}

private func inOtherCase(_ name: String) -> String {
    let isLetter: (UInt8) -> Bool = { (97...122).contains($0 | 32) }
    return String(decoding: name.utf8.map { isLetter($0) ? $0 ^ 32 : $0 }, as: UTF8.self)
}

/// A response as RFC 6455, 4.1, describes it, in bytes. Comparing no text keeps Unicode rules out.
struct ReferenceResponse {
    let status: Int
    let fields: [(name: [UInt8], value: [UInt8])]

    init(status: Int, fields: [(name: String, value: String)]) {
        self.status = status
        self.fields = fields.map { (inLowerCase(Array($0.name.utf8)), Array($0.value.utf8)) }
    }

    func result(asked: [String]) -> UpgradeResult {
        let upgrade = values("upgrade").map(inLowerCase)
        let connection = values("connection").flatMap(elements).map(inLowerCase)
        let subprotocols = values("sec-websocket-protocol").filter { !$0.isEmpty }
        let isGood =
            status == 101
            && !upgrade.isEmpty && upgrade.allSatisfy { $0 == Array("websocket".utf8) }
            && connection.contains(Array("upgrade".utf8))
            && values("sec-websocket-accept") == [Array("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=".utf8)]
            && values("content-length").allSatisfy { $0 == [UInt8(ascii: "0")] } && values("transfer-encoding").isEmpty
            && values("sec-websocket-extensions").flatMap(elements).isEmpty
            && subprotocols.count <= 1 && subprotocols.allSatisfy(asked.map { Array($0.utf8) }.contains)
        return isGood ? .taken(subprotocols.first) : .refused
    }

    private func values(_ name: String) -> [[UInt8]] {
        fields.filter { $0.name == Array(name.utf8) }.map { trimmed($0.value) }
    }
}

private func elements(_ value: [UInt8]) -> [[UInt8]] {
    value.split(separator: UInt8(ascii: ",")).map { trimmed(Array($0)) }.filter { !$0.isEmpty }
}

private func trimmed(_ value: [UInt8]) -> [UInt8] {
    let isSpace: (UInt8) -> Bool = { [9, 10, 13, 32].contains($0) }
    return Array(value.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
}

private func inLowerCase(_ bytes: [UInt8]) -> [UInt8] {
    bytes.map { (65...90).contains($0) ? $0 + 32 : $0 }
}
