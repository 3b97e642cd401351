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
    checkSockudo(frame, outcome)
    if let disagreement = FoundationJSON.disagreement(about: frame) { require(false, disagreement) }
    if let value = JSONValue(ifJSON: text) { checkRoundTrip(value) }
    checkRawMembers(of: text)
    if case .success(let message) = outcome { RoundTrip(message).check() }
    return 0
}

/// Decodes a frame. Checks that the result is the same when other frames surround it, and when its names are already known.
func decode(_ frame: [UInt8], _ spoken: PusherProtocol = .pusher) -> Result<ServerMessage, MalformedMessage> {
    let alone = EnvelopeDecoder.decode(frame, spoken)
    var decoder = EnvelopeDecoder(spoken)
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

/// Checks that the right messages are treated as the protocol's own, and that each of these is valid.
func checkControl(_ outcome: Result<ServerMessage, MalformedMessage>) {
    switch outcome {
    case .success(.event(let envelope)):
        require(!isReserved(envelope.event), "\(envelope.event) is the protocol's own")
    case .success(.control(let control, let envelope)):
        require(isReserved(envelope.event), "\(envelope.event) is not the protocol's own")
        check(control, envelope)
    case .failure(.incomplete(let event, _)):
        require(isReserved(event), "\(event) may hold whatever it likes")
    case .failure: break
    }
}

/// Checks that Sockudo's protocol differs only in what begins with its name, and that what is read of its answers makes sense.
private func checkSockudo(_ frame: [UInt8], _ outcome: Result<ServerMessage, MalformedMessage>) {
    let read = decode(frame, .sockudo)
    guard case .success(.event(let envelope)) = outcome, envelope.event.text.utf8.starts(with: "sockudo".utf8) else {
        return require(read == outcome, "\(read), on protocol 7 \(outcome)")
    }
    checkPosition(of: envelope)
    switch read {
    case .success(.event(let same)): require(same == envelope, "\(same), on protocol 7 \(envelope)")
    case .success(.control(let control, let renamed)):
        check(control, renamed)
        guard case .history(_, let page) = control else { return }
        require(page.cursor == nil || !page.isComplete, "it is complete, and goes on: \(page)")
        for event in page.events { checkPosition(of: event) }
    case .failure(.incomplete), .failure(.unusableSocketID): break
    case .failure(let problem): require(false, "\(problem), on protocol 7 \(envelope)")
    }
}

private func checkPosition(of envelope: Envelope) {
    guard let position = envelope.position else { return }
    require(position.serial >= 0 && (1...100).contains(position.streamID.utf8.count), "\(position) is none")
}

/// Indicates whether an event is the protocol's own. Compares bytes, because the protocol treats an accent as a separate
/// character.
private func isReserved(_ event: Name) -> Bool {
    ["pusher:", "pusher_internal:"].contains { event.text.utf8.starts(with: $0.utf8) }
}

private func check(_ control: ServerControl, _ envelope: Envelope) {
    switch control {
    case .connectionEstablished(let socketID, let timeout):
        require(SocketID(socketID.text) == socketID && timeout ?? .seconds(1) > .zero, "\(control)")
    case .subscriptionSucceeded(let channel, let presence):
        require(channel == envelope.channel && !channel.text.isEmpty, "\(control)")
        let ids = (presence?.list.members ?? []).map(\.userID)
        require(Set(ids).count == ids.count, "a member is there once: \(ids)")
        let hash = envelope.payload?["presence"]?["hash"]?.objectValue ?? [:]
        require(hash.keys.allSatisfy(ids.contains), "a member is missing in \(ids)")
    case .subscriptionError(let channel, _, let message, _):
        require(channel == envelope.channel && !message.isEmpty, "\(control)")
    case .error(_, let message): require(!message.isEmpty, "\(control)")
    case .subscriptionCount(let channel, _), .memberAdded(let channel, _), .memberRemoved(let channel, _),
        .cacheMiss(let channel), .history(let channel, _):
        require(channel == envelope.channel && !channel.text.isEmpty, "\(control)")
    case .signedIn(let userID): require(!userID.text.isEmpty, "\(control)")
    case .ping, .pong, .watchlist, .resumed, .resumeFailed, .rewound, .unknown: break
    }
}
