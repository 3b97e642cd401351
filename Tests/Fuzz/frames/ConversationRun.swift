/// An action that the owner of a conversation takes in the middle of the stream.
enum OwnerAction: Int {
    case nothing, send, close, abandon

    static let text = "text – of the owner"
    static let reason = "reason"

    init(_ choice: Int) {
        self = OwnerAction(rawValue: choice & 3) ?? .nothing
    }

    /// The code that the action closes with.
    var closeCode: UInt16? {
        switch self {
        case .nothing, .send: nil
        case .close: 4001
        case .abandon: 1000
        }
    }
}

/// The outcome of a conversation.
struct Outcome: Equatable {
    var messages: [StreamEvent] = []
    var heardControlFrame = false
    var closures: [WebSocketClosure] = []
    var output: [UInt8] = []
}

/// A run of a stream through a ``WebSocketConversation``, with a backend that has no stream.
struct ConversationRun: ~Copyable {
    private var conversation: WebSocketConversation
    private let room: Int
    private var outcome = Outcome()
    private var isClosing = false
    private var hasTimer = false

    static func outcome(
        before: [ArraySlice<UInt8>], _ action: OwnerAction, after: [ArraySlice<UInt8>], limit: Int, room: Int
    ) -> Outcome {
        var run = ConversationRun(limit: limit, room: room)
        for read in before { run.receive(read) }
        run.act(action)
        for read in after { run.receive(read) }
        run.drain()
        var outcome = run.outcome
        run.expectNothingMore()
        if outcome.closures.isEmpty { outcome.closures = run.outcome.closures }
        return outcome
    }

    private init(limit: Int, room: Int) {
        var keys = MaskKeys()
        conversation = WebSocketConversation(maximumSize: limit, closeTimeout: .seconds(2)) { keys.next() }
        self.room = room
    }

    private mutating func receive(_ read: ArraySlice<UInt8>) {
        withMemory(of: read) {
            conversation.receive($0)
            takeOutputs(room: room)
        }
    }

    private mutating func act(_ action: OwnerAction) {
        switch action {
        case .nothing: break
        case .send: conversation.send(OwnerAction.text)
        case .close: conversation.close(code: 4001, reason: OwnerAction.reason)
        case .abandon: conversation.abandon()
        }
        isClosing = action.closeCode != nil
        takeOutputs(room: room)
    }

    /// Writes the output until none is left.
    private mutating func drain() {
        while conversation.hasOutput { takeOutputs(room: .max) }
    }

    /// Checks that the end is reported once, that nothing is delivered after it, and that the stream is finally to be closed.
    private mutating func expectNothingMore() {
        if !outcome.closures.isEmpty { expectSilence() }
        conversation.streamEnded()
        takeOutputs(room: .max)
        expectSilence()
        conversation.timerFired()
        conversation.abandon()
        conversation.close(code: 1000, reason: "")
        takeOutputs(room: .max)
        require(outcome.closures.count == 1, "it is reported once how it ended, not \(outcome.closures.count) times")
        require(conversation.stream == .closeNow && !conversation.hasOutput, "the stream is to be closed")
    }

    /// Checks that nothing that the server sends now is delivered. Pongs may still go to a server that owes its close frame.
    private mutating func expectSilence() {
        var before = outcome
        for read in [[0x81, 1, 0x61], [0x8A, 0], [0x88, 0], [0xFF]] as [[UInt8]] { receive(read[...]) }
        conversation.send("late")
        drain()
        let late = SentFrame.all(in: outcome.output).dropFirst(SentFrame.all(in: before.output).count)
        require(late.allSatisfy { $0.opcode == 10 }, "after the end was sent \(late)")
        before.output = outcome.output
        require(outcome == before, "after the end came \(outcome), before there was \(before)")
    }

    private mutating func takeOutputs(room: Int) {
        var written: [UInt8] = []
        conversation.write { bytes in
            written += bytes.prefix(room)
            return min(room, bytes.count)
        }
        outcome.output += written
        var messages: [StreamEvent] = []
        conversation.takeMessages { batch in
            batch.forEach { messages.append(.message(isText: $0 == .text, Array($1))) }
        }
        outcome.messages += messages
        if conversation.takeControlFrames() { outcome.heardControlFrame = true }
        if let closure = conversation.takeClosure() { outcome.closures.append(closure) }
        if conversation.takeTimer() != nil { hasTimer = true }
        let isEnding = isClosing || !outcome.closures.isEmpty
        require(!isEnding || hasTimer || conversation.stream == .closeNow, "an end that waits has a timer")
    }
}

/// The mask keys of all frames, in order.
struct MaskKeys {
    private var key: UInt32 = 0

    mutating func next() -> UInt32 {
        key &+= 0x9E37_79B9
        return key
    }
}
