/// The outcome that a conversation must have, given the stream and the owner's action.
struct Expectation {
    /// The events of the whole stream, and those before the owner's action.
    let events: [StreamEvent]
    let before: [StreamEvent]
    let action: OwnerAction

    func check(_ outcome: Outcome) {
        let sent = SentFrame.all(in: outcome.output)
        require(outcome.messages == messages, "messages are \(outcome.messages), not \(messages)")
        require(outcome.heardControlFrame == heardControlFrame, "control frames were heard: \(outcome.heardControlFrame)")
        let pongs = sent.filter { $0.opcode == 10 }.map(\.payload)
        require(pongs == pings, "pongs are \(pongs), not \(pings)")
        let texts = sent.filter { $0.opcode == 1 }.map(\.payload)
        require(texts == (action == .send && !wasOver ? [Array(OwnerAction.text.utf8)] : []), "texts are \(texts)")
        let closes = sent.filter { $0.opcode == 8 }.map(\.payload)
        require(closes.count == (closeCode == nil ? 0 : 1), "there are \(closes.count) close frames")
        if let closeCode, let close = closes.first {
            let code = close.prefix(2).reduce(0) { $0 << 8 | UInt16($1) }
            require(code == (closeCode == 1005 ? 0 : closeCode), "closed with \(code), not \(closeCode)")
            let rest = sent.drop { $0.opcode != 8 }.dropFirst()
            require(rest.allSatisfy { $0.opcode == 10 }, "only pongs may follow the close frame")
        }
        if let closure { require(outcome.closures == [closure], "closures are \(outcome.closures), not \(closure)") }
    }

    /// The events that are delivered to the owner: none after it has abandoned the conversation.
    private var delivered: [StreamEvent] { action == .abandon ? before : events }

    private var messages: [StreamEvent] {
        delivered.filter { if case .message = $0 { true } else { false } }
    }

    private var heardControlFrame: Bool {
        delivered.contains { event in
            switch event {
            case .ping, .pong: true
            default: false
            }
        }
    }

    private var pings: [[UInt8]] {
        events.compactMap { if case .ping(let payload) = $0 { payload } else { nil } }
    }

    private func isEnd(_ event: StreamEvent?) -> Bool {
        switch event {
        case .close, .violation: true
        default: false
        }
    }

    /// Indicates whether there was nothing left for the owner to do.
    private var wasOver: Bool { isEnd(before.last) }

    /// The code of our close frame, if there is one: 1005 for an empty one.
    private var closeCode: UInt16? {
        if !wasOver, let code = action.closeCode { return code }
        switch events.last {
        case .close(let code, _), .violation(let code): return code
        default: return nil
        }
    }

    /// The expected closure, or nil for a failure, whose text isn't compared.
    private var closure: WebSocketClosure? {
        if !wasOver, let code = action.closeCode {
            return .closed(code: code, reason: action == .close ? OwnerAction.reason : "")
        }
        guard case .close(let code, let reason) = events.last else { return nil }
        return .closed(code: code, reason: String(decoding: reason, as: UTF8.self))
    }
}

/// A frame that was sent.
struct SentFrame {
    let opcode: UInt8
    let payload: [UInt8]

    /// Parses output into frames. Checks that they are whole and final, have no reserved bits, are masked with the keys drawn for
    /// them, use the shortest form of length, and have contents that may be sent.
    static func all(in output: [UInt8]) -> [SentFrame] {
        var (rest, keys, frames) = (output[...], MaskKeys(), [SentFrame]())
        while !rest.isEmpty {
            let header = Array(rest.prefix(2))
            require(header.count == 2 && header[0] >> 4 == 8 && header[1] >= 128, "a final, masked frame: \(header)")
            let size = header[1] == 254 ? 2 : header[1] == 255 ? 8 : 0
            let length = size == 0 ? Int(header[1]) - 128 : rest.dropFirst(2).prefix(size).reduce(0) { $0 << 8 | Int($1) }
            require(length >= [0: 0, 2: 126, 8: 65536][size, default: 0], "the shortest form of \(length)")
            let body = rest.dropFirst(2 + size)
            require(body.count >= 4 + length, "a whole frame")
            let key = withUnsafeBytes(of: keys.next().bigEndian) { Array($0) }
            require(Array(body.prefix(4)) == key, "the key of this frame")
            let masked = body.dropFirst(4).prefix(length)
            let frame = SentFrame(opcode: header[0] & 15, payload: masked.enumerated().map { $1 ^ key[$0 % 4] })
            frame.check()
            frames.append(frame)
            rest = body.dropFirst(4 + length)
        }
        return frames
    }

    private func check() {
        switch opcode {
        case 1: require(isUTF8(payload), "text")
        case 8:
            require(payload.count <= 125 && payload.count != 1, "the size of a close frame")
            guard payload.count >= 2 else { return }
            require(sendableCodes.contains(UInt16(payload[0]) << 8 | UInt16(payload[1])), "a code that may be sent")
            require(isUTF8(Array(payload[2...])), "a reason that is text")
        case 10: require(payload.count <= 125, "the size of a pong")
        default: require(false, "opcode \(opcode)")
        }
    }
}
