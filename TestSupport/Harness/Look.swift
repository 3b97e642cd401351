import PusherChannels

/// An evaluation of a condition in a separate task. The condition may never return, or may wait for something that wouldn't
/// happen if the caller waited for it, such as a timer.
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

    /// Calls the closure when the reply is available, immediately if it already is.
    func onReply(_ tell: @escaping @Sendable () -> Void) {
        let isThere = state.withLock { state in
            state.onReply = tell
            return state.reply != nil
        }
        if isThere { tell() }
    }

    /// Cancels the evaluation, because nobody waits for the reply anymore.
    func end() { task.cancel() }
}
