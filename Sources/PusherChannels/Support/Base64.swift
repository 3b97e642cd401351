/// Bytes in Base64 (RFC 4648, 4).
func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = bytes[start..<min(start + 3, bytes.count)]
        let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
        for place in 0..<4 {
            let digit = alphabet[Int(bits >> UInt32(18 - 6 * place)) & 63]
            text.append(place <= group.count ? digit : UInt8(ascii: "="))
        }
    }
    return String(decoding: text, as: UTF8.self)
}
