/// Passes a server's text through the decoder and through Foundation's JSON parser, and a message that was understood through the
/// encoder and back.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let frame = Array(FuzzInput(data, size).rest)
    let outcome = decode(frame)
    // The framing guarantees that text is UTF-8. Anything else must only not trap.
    guard let text = String(validating: frame, as: UTF8.self) else { return 0 }
    checkAgainstFoundation(frame, outcome)
    checkControl(outcome)
    if let disagreement = FoundationJSON.disagreement(about: frame) { require(false, disagreement) }
    if let value = JSONValue(ifJSON: text) { checkRoundTrip(value) }
    checkRawMembers(of: text)
    if case .success(let message) = outcome { RoundTrip(message).check() }
    return 0
}

/// Decodes a frame. Checks that the result is the same when other frames surround it, and when its names are already known.
func decode(_ frame: [UInt8]) -> Result<ServerMessage, MalformedMessage> {
    let alone = EnvelopeDecoder.decode(frame)
    var decoder = EnvelopeDecoder()
    let block = Array("{\"".utf8) + frame + Array("0\"}".utf8)
    for _ in 0..<2 {
        let amongOthers = Result { () throws(MalformedMessage) in try decoder.decode(block, 2..<2 + frame.count) }
        require(alone == amongOthers, "\(amongOthers), alone \(alone)")
    }
    return alone
}

/// Checks that a value survives being written and read.
private func checkRoundTrip(_ value: JSONValue) {
    let again = JSONValue(ifJSON: value.text)
    require(again == value && again?.text == value.text, "\(value) is written \(value.text)")
}

/// Checks that a member's raw text, which is found without reading the others, is that member.
private func checkRawMembers(of text: String) {
    let value = JSONValue(ifJSON: text)
    for name in ["event", "data", "a"] {
        let raw = rawJSONMember(name, of: text)
        let member = raw.flatMap(JSONValue.init(ifJSON:))
        require((raw == nil) == (member == nil) && member == value?[name], "\(name) is \(raw ?? "missing")")
    }
}
