#if LocalServer
import PusherChannels

/// One WebSocket of a route that the test added, with the test's closure at the server's end.
final class RoutedSocket: WebSocketSession {
    /// The largest number of bytes that may wait for a client.
    static let limit = 64 << 20

    private let core: LocalServerCore
    private let output: FrameQueue
    private let messages: AsyncStream<String>.Continuation
    private let conversation = Locked<Task<Void, Never>?>(nil)

    init(core: LocalServerCore, request: RecordedRequest, output: FrameQueue, converse: @escaping Router.Conversation) {
        self.core = core
        self.output = output
        let (stream, messages) = AsyncStream.makeStream(of: String.self)
        self.messages = messages
        core.keep(self)
        conversation.withLock {
            $0 = Task { [self] in
                do {
                    try await converse(request, stream) { [self] in play($0) }
                    play(.close(code: 1000))
                } catch {
                    play(.close(code: 1011, reason: "\(error)"))
                }
            }
        }
    }

    func play(_ step: SocketStep) {
        switch step {
        case .send, .event, .establish:
            if let text = step.message { output.append(.text(text)) }
            if output.size > Self.limit { output.cut() }
        case .controlFrame: output.append(.ping)
        case .close(let code, let reason): close(code: code, reason: reason)
        case .drop: output.cut()
        case .accept, .serve, .refuse, .expect, .wait, .fault:
            core.find(Finding(.error, "a WebSocket route of a server can't do this step: \(step)"))
        }
    }

    func close(code: UInt16, reason: String) {
        output.append(.close(code, reason: reason))
    }

    /// Sends the frames of a fault.
    func send(_ frames: [OutgoingFrame]) {
        for frame in frames { output.append(frame) }
    }

    func receive(_ message: ClientMessage) {
        switch message {
        case .text(let text): messages.yield(text)
        case .ping(let payload): output.append(.pong(payload))
        case .pong: break
        case .end: break
        }
    }

    /// Ends the conversation. The reply to the client's close frame comes first: anything that the conversation does at its end is
    /// too late.
    func end(saying reply: OutgoingFrame?) {
        if let reply { output.append(reply) }
        output.finish()
        messages.finish()
        let conversation = conversation.withLock { $0.take() }
        conversation?.cancel()
        Task {
            await Self.awaitEnd(of: conversation, core)
            core.forget(self)
        }
    }

    /// Waits until a conversation has ended, so that an error it throws becomes a finding, but only for a limited time.
    private static func awaitEnd(of conversation: Task<Void, Never>?, _ core: LocalServerCore) async {
        let (waiting, signal) = AsyncStream<Never>.makeStream()
        let scheduler = LiveScheduler()
        let timer = scheduler.schedule(at: scheduler.now + core.closeTimeout, label: "end of a conversation") { signal.finish() }
        Task {
            await conversation?.value
            signal.finish()
        }
        for await _ in waiting {}
        timer.cancel()
    }
}
#endif
