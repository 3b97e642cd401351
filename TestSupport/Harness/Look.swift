import PusherChannels

/// A look at a condition, in a task of its own: the condition may wait for what nobody would bring while it is waited for, such as a
/// timer, or never reply.
final class Look: Sendable {
    private struct State {
        var reply: Result<Bool, any Error>?
        var onReply: @Sendable () -> Void = {}
    }

    private let state: Locked<State>
    private let task: Task<Void, Never>

    init(at condition: @escaping TestHarness.Condition) {
        let state = Locked(State())
        self.state = state
        task = Task {
            let reply: Result<Bool, any Error>
            do {
                reply = .success(try await condition())
            } catch {
                reply = .failure(error)
            }
            let onReply = state.withLock { state in
                state.reply = reply
                return state.onReply
            }
            onReply()
        }
    }

    var reply: Result<Bool, any Error>? { state.withLock(\.reply) }

    /// Has the closure called when the reply is there, at once where it is there already.
    func onReply(_ tell: @escaping @Sendable () -> Void) {
        let isThere = state.withLock { state in
            state.onReply = tell
            return state.reply != nil
        }
        if isThere { tell() }
    }

    /// Nobody waits for the reply any more.
    func end() { task.cancel() }
}
