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
            && values("content-length").isEmpty && values("transfer-encoding").isEmpty
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
