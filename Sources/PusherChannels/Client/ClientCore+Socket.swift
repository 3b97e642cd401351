/// The reports of the socket.
extension ClientCore {
    func webSocketDidOpen(attempt: ConnectionAttempt) {
        handle(.socketOpened(attempt))
    }

    func webSocketDidReceive(_ messages: borrowing MessageBatch, attempt: ConnectionAttempt) {
        guard messages.size <= Self.largestBatchDecodedUnderLock else { return receiveLarge(messages, attempt) }
        change { state, now in
            state.came = now - messages.age
            // Most messages have one effect, so one allocation serves all of them.
            if state.effects.isEmpty { state.effects.reserveCapacity(messages.count) }
            messages.forEachInBlocks { kind, block, range in
                let input = Self.decode(kind, block, range, attempt, &state.decoder)
                if logsMessages { state.effects.append(.log(.received(Self.text(of: input, kind, block[range])))) }
                state.handle(input, at: now)
            }
            state.tally.noteRead(bytes: messages.size)
            state.noteRead(messages.count, age: messages.age, attempt, at: now)
        }
    }

    /// The size in bytes of the largest batch that is decoded under the lock. A larger one is decoded before the lock is taken,
    /// so nobody who only wants to know the state has to wait for it.
    private static let largestBatchDecodedUnderLock = 1 << 17

    private func receiveLarge(_ messages: borrowing MessageBatch, _ attempt: ConnectionAttempt) {
        var decoder = EnvelopeDecoder()
        var inputs: [Input] = []
        var texts: [String] = []
        messages.forEachInBlocks { kind, block, range in
            inputs.append(Self.decode(kind, block, range, attempt, &decoder))
            if logsMessages { texts.append(Self.text(of: inputs[inputs.count - 1], kind, block[range])) }
        }
        change { state, now in
            state.came = now - messages.age
            for (index, input) in inputs.enumerated() {
                if logsMessages { state.effects.append(.log(.received(texts[index]))) }
                state.handle(input, at: now)
            }
            state.tally.noteRead(bytes: messages.size)
            state.noteRead(inputs.count, age: messages.age, attempt, at: now)
        }
    }

    private static func decode(
        _ kind: MessageBatch.Kind, _ block: [UInt8], _ range: Range<Int>, _ attempt: ConnectionAttempt,
        _ decoder: inout EnvelopeDecoder
    ) -> Input {
        guard kind == .text else { return .receivedMalformed(.binary, attempt) }
        do {
            return .received(try decoder.decode(block, range), attempt)
        } catch {
            return .receivedMalformed(error, attempt)
        }
    }

    /// Returns the text of a message for the log, without user data that the server repeats: it came with a signature.
    private static func text(of input: Input, _ kind: MessageBatch.Kind, _ bytes: ArraySlice<UInt8>) -> String {
        // More than a line shows, so it ends as the line of a long message does.
        let text = kind == .text ? String(decoding: bytes.prefix(8192), as: UTF8.self) : "\(bytes.count) bytes that are no text"
        switch input {
        case .received(.control(.signedIn, _), _): return #"{"event":"pusher:signin_success","data":…}"#
        // A malformed message may hold user data nevertheless.
        case .receivedMalformed where bytes.withUnsafeBytes({ $0.contains("signin_success") || $0.contains("user_data") }):
            return "\(bytes.count) bytes that make no sense, of a sign-in"
        default: return text
        }
    }

    func webSocketDidClose(_ closure: WebSocketClosure, attempt: ConnectionAttempt) {
        handle(.socketClosed(closure, attempt))
    }
}

extension ClientCore.State {
    /// Tells the machine what the messages of a read don't say: that there were only control frames, and how old all of it may
    /// be.
    fileprivate mutating func noteRead(_ count: Int, age: Duration, _ attempt: ConnectionAttempt, at now: Instant) {
        if count == 0 { handle(.receivedControlFrame(attempt), at: now) }
        if age > .zero { handle(.receivedLate(by: age, attempt), at: now) }
    }
}
