import Testing

@testable import PusherChannels

/// An output that a backend carried out for a conversation.
enum Did: Equatable {
    case wrote([ClientFrame])
    case delivered([String])
    case heardControlFrame
    case setTimer(Duration)
    case reported(WebSocketClosure)
    case closedStream
}

/// A backend without a stream. Like a real one, it takes the conversation's outputs after each input.
struct ConversationRig: ~Copyable {
    private var conversation: WebSocketConversation
    /// The number of bytes that the stream accepts at once; 0 while the peer doesn't read.
    var room = Int.max
    private var sent: [UInt8] = []
    private var isClosed = false

    init(maximumSize: Int = 1 << 20) {
        var key: UInt32 = 0
        conversation = WebSocketConversation(maximumSize: maximumSize, closeTimeout: .seconds(2)) {
            key &+= 0x9E37_79B9
            return key
        }
    }

    /// A text that is as large as what may wait before only the last reply is kept.
    static let backlog = String(repeating: "a", count: 70_000)

    /// A conversation whose stream takes nothing, while ``backlog`` waits to be sent.
    static func full() -> ConversationRig {
        var rig = ConversationRig()
        rig.room = 0
        #expect(rig.send(backlog) == [])
        return rig
    }

    mutating func receive(_ bytes: [UInt8]) -> [Did] {
        bytes.withUnsafeBytes { bytes in
            conversation.receive(bytes)
            return outputs()
        }
    }

    mutating func send(_ text: String) -> [Did] { after { $0.send(text) } }
    mutating func sendUnlessBusy(_ text: String) -> [Did] { after { $0.sendUnlessBusy(text) } }
    mutating func close(_ code: UInt16, _ reason: String = "") -> [Did] { after { $0.close(code: code, reason: reason) } }
    mutating func abandon() -> [Did] { after { $0.abandon() } }
    mutating func streamEnds() -> [Did] { after { $0.streamEnded() } }
    mutating func timerFires() -> [Did] { after { $0.timerFired() } }

    private mutating func after(_ input: (inout WebSocketConversation) -> Void) -> [Did] {
        input(&conversation)
        return outputs()
    }

    mutating func streamTakes(_ room: Int) -> [Did] {
        self.room = room
        return outputs()
    }

    private mutating func outputs() -> [Did] {
        var did: [Did] = []
        var written: [UInt8] = []
        var room = room
        conversation.write { bytes in
            let taken = min(room, bytes.count)
            written += bytes.prefix(taken)
            room -= taken
            return taken
        }
        // A frame that the stream split counts once its last byte is written.
        sent += written
        if let frames = ClientFrame.all(in: sent), !frames.isEmpty {
            did.append(.wrote(frames))
            sent = []
        }
        conversation.takeMessages { batch in
            var texts: [String] = []
            batch.forEach { texts.append(String(decoding: $1, as: UTF8.self)) }
            did.append(.delivered(texts))
        }
        if conversation.takeControlFrames() { did.append(.heardControlFrame) }
        if let time = conversation.takeTimer() { did.append(.setTimer(time)) }
        if let closure = conversation.takeClosure() { did.append(.reported(closure)) }
        if conversation.stream == .closeNow, !isClosed {
            isClosed = true
            did.append(.closedStream)
        }
        return did
    }
}
