/// The reports of the socket.
extension ClientCore {
    func webSocketDidOpen(attempt: ConnectionAttempt) {
        handle(.socketOpened(attempt))
    }

    func webSocketDidReceive(_ batch: borrowing MessageBatch, attempt: ConnectionAttempt) {
        let (size, age) = (batch.size, batch.age)
        inbox.open(batch, attempt) { messages in
            change { state, now in
                state.router.arrival = now - age
                for index in messages.inputs.indices {
                    if !messages.texts.isEmpty { state.machine.outputs.append(.log(.received(messages.texts[index]))) }
                    state.handle(messages.inputs[index], at: now)
                }
                state.telemetry.tally.noteRead(bytes: size)
                state.noteRead(messages.inputs.count, age: age, attempt, at: now)
            }
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
