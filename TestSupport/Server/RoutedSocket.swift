#if LocalServer
import FlyingFox
import Foundation
import PusherChannels

/// One WebSocket of a route that the test added: FlyingFox's frames on one side, the test's closure on the other.
struct RoutedSocketSession: WSHandler {
    let core: LocalServerCore
    let request: RecordedRequest
    let converse: Router.Conversation

    func makeFrames(for client: AsyncThrowingStream<WSFrame, any Error>) async throws -> AsyncStream<WSFrame> {
        let (frames, output) = AsyncStream.makeStream(of: WSFrame.self)
        let (messages, incoming) = AsyncStream.makeStream(of: String.self)
        let closeTimer = CloseTimer(core.closeTimeout)
        let socket = RoutedSocket(core: core, output: output, closeTimer: closeTimer)
        core.keep(socket)
        let conversation = Task { [request, converse] in
            do {
                try await converse(request, messages) { socket.play($0) }
                socket.play(.close(code: 1000))
            } catch {
                socket.play(.close(code: 1011, reason: "\(error)"))
            }
        }
        let reader = SocketPoolSettings.$closeTimer.withValue(closeTimer) {
            Task { [core] in
                let reply = await MessageAssembler.read(
                    client, limit: core.largestBody, receive: { incoming.yield($0) }, send: { socket.send($0) })
                // The reply to the client's close frame comes first. Anything that the conversation does at its end is too late.
                socket.end(saying: reply)
                incoming.finish()
                conversation.cancel()
                await Self.awaitEnd(of: conversation, core)
                core.forget(socket)
            }
        }
        socket.setReader(reader)
        // Writing failed, or the server is stopped.
        output.onTermination = { _ in reader.cancel() }
        return AsyncStream { [core] in
            if let frame = await closeTimer.next(of: frames) { return frame }
            await core.awaitEnd(of: client)
            return nil
        }
    }

    /// Waits until a conversation has ended, so that an error it throws becomes a finding, but only for a limited time. It also
    /// waits if the reader is cancelled.
    private static func awaitEnd(of conversation: Task<Void, Never>, _ core: LocalServerCore) async {
        let (waiting, signal) = AsyncStream<Never>.makeStream()
        let scheduler = LiveScheduler()
        let timer = scheduler.schedule(at: scheduler.now + core.closeTimeout, label: "end of a conversation") { signal.finish() }
        Task {
            await conversation.value
            signal.finish()
        }
        await Task { for await _ in waiting {} }.value
        timer.cancel()
    }
}

/// The server's end of a route's WebSocket. Nothing is sent after its close frame.
final class RoutedSocket: Sendable {
    private struct State {
        var reader: Task<Void, Never>?
        /// Set once nothing more is to be read, possibly before there is a reader.
        var isCut = false
        var isOver = false
    }

    private let core: LocalServerCore
    private let output: AsyncStream<WSFrame>.Continuation
    private let closeTimer: CloseTimer
    private let state = Locked(State())

    init(core: LocalServerCore, output: AsyncStream<WSFrame>.Continuation, closeTimer: CloseTimer) {
        self.core = core
        self.output = output
        self.closeTimer = closeTimer
    }

    func setReader(_ reader: Task<Void, Never>) {
        let isCut = state.withLock { state in
            state.reader = reader
            return state.isCut
        }
        if isCut { reader.cancel() }
    }

    func play(_ step: SocketStep) {
        switch step {
        case .send, .event, .establish:
            if let text = step.message { send(WSFrame(fin: true, opcode: .text, mask: nil, payload: Data(text.utf8))) }
        case .controlFrame: send(WSFrame(fin: true, opcode: .ping, mask: nil, payload: Data()))
        case .close(let code, let reason): close(code: code, reason: reason)
        case .drop: cut()
        case .accept, .serve, .refuse, .expect, .wait, .fault:
            core.find(Finding(.error, "a WebSocket route of a server can't do this step: \(step)"))
        }
    }

    func send(_ frame: WSFrame) {
        state.withLock { state in
            if !state.isOver, !closeTimer.isClosing { output.yield(frame) }
        }
    }

    func close(code: UInt16, reason: String) {
        state.withLock { state in
            guard !state.isOver, !closeTimer.isClosing else { return }
            output.yield(.close(code: WSCloseCode(code, reason: reason.prefix(utf8Length: 123))))
            closeTimer.start { [weak self] in self?.cut() }
        }
    }

    /// Ends the connection without a close frame.
    private func cut() {
        let reader = state.withLock { state in
            state.isCut = true
            return state.reader
        }
        reader?.cancel()
    }

    /// Ends the socket after its reader has ended.
    func end(saying frame: WSFrame?) {
        if let frame { send(frame) }
        state.withLock { $0.isOver = true }
        closeTimer.readerEnded()
        output.finish()
    }
}
#endif
