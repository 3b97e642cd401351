#if os(Linux)

/// Turns the stream's bytes into reports to the delegate, and carries out the conversation's demands.
extension WebSocketConnection: ByteStreamOwner {
    func streamWritable() {
        switch phase {
        case .upgrading(let stream, var exchange):
            exchange.write { stream.write($0) }
            phase = .upgrading(stream, exchange)
        case .open: flush()
        case .waiting, .connecting, .ended: break
        }
    }

    func streamReceived(_ bytes: UnsafeRawBufferPointer, since time: Instant) {
        if case .upgrading(let stream, var exchange) = phase { return readResponse(bytes, on: stream, &exchange) }
        if !isHandingOver, !early.isEmpty { receiveEarly() }
        if isHandingOver { return early.append(contentsOf: bytes) }
        origin = .since(time, now: loop.environment.now)
        conversation.receive(bytes)
        flush()
    }

    func streamEnded(_ end: StreamEnd) {
        guard case .open = phase else { return upgradeEnded(end) }
        if isHandingOver {
            streamEnd = end
            return
        }
        // A close frame in these bytes may give the reason.
        if !early.isEmpty { receiveEarly() }
        conversation.streamEnded(because: end.explanation)
        flush()
    }

    // MARK: Reading

    /// Reads bytes that arrived before the connection was open.
    func receive(early bytes: [UInt8]) {
        early = bytes
        readIfAllowed()
    }

    func readIfAllowed() {
        guard case .open(let stream) = phase else { return }
        let reads = isReading && !isHandingOver
        stream.setReading(reads)
        if reads, !early.isEmpty { receiveEarly() }
    }

    private func receiveEarly() {
        let bytes = early
        early = []
        bytes.withUnsafeBytes {
            conversation.receive($0)
            // Must happen here, because the messages are in these bytes until they are reported.
            flush()
        }
    }

    /// Reports messages on another thread, because reading them takes long. Reports of other connections don't wait for that.
    private func deliver(_ messages: borrowing MessageBatch, from stream: ByteStream) {
        let (unread, origin) = (Locked(Optional(messages.copies)), messages.origin)
        self.unread = unread
        stream.setReading(false)
        loop.environment.performElsewhere { [weak delegate, attempt, key, owner = loop.owner] in
            if let copies = unread.withLock({ $0.take() }) {
                MessageBatch.with(copies, origin) { delegate?.webSocketDidReceive($0, attempt: attempt) }
            }
            owner.post { $0.service(WebSocketConnections.self)[key]?.wasDelivered() }
        }
    }

    /// Continues when the other thread is done with the messages.
    func wasDelivered() {
        unread = nil
        flush()
        readIfAllowed()
        guard let end = streamEnd, !isHandingOver else { return }
        streamEnd = nil
        streamEnded(end)
    }

    // MARK: The conversation

    /// Carries out the conversation's demands.
    func flush() {
        guard case .open(let stream) = phase else { return }
        conversation.write { stream.write($0) }
        if !isHandingOver { report(from: stream) }
        if let time = conversation.takeTimer() {
            timer.set(after: time) { [weak self] in self?.timedOut() }
        }
        if conversation.stream == .closeNow {
            timer.cancel()
            stream.leave()
        }
    }

    private func report(from stream: ByteStream) {
        var heard = 0
        conversation.takeMessages(origin) { messages in
            heard = messages.count
            if messages.size > Self.largeSize || messages.count > Self.largeCount {
                deliver(messages, from: stream)
            } else {
                delegate?.webSocketDidReceive(messages, attempt: attempt)
            }
        }
        guard !isHandingOver else { return }
        if conversation.takeControlFrames(), heard == 0 {
            delegate?.webSocketDidReceive(.controlFrames(origin), attempt: attempt)
        }
        if let closure = conversation.takeClosure() {
            registry.forget(key)
            delegate?.webSocketDidClose(closure, attempt: attempt)
        }
    }

    private func timedOut() {
        conversation.timerFired()
        flush()
        // The peer has had its time already.
        if case .open(let stream) = phase, conversation.stream == .closeNow { stream.cut() }
    }
}
#endif
