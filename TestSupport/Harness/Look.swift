import PusherChannels

/// A look at a condition, in a task of its own: the condition may wait for what nobody would bring while it is waited for, such as a
/// timer, or never answer.
final class Look: Sendable {
    private struct State {
        var answer: Result<Bool, any Error>?
        var onAnswer: @Sendable () -> Void = {}
    }

    private let state: Locked<State>
    private let task: Task<Void, Never>

    init(at condition: @escaping TestHarness.Condition) {
        let state = Locked(State())
        self.state = state
        task = Task {
            let answer: Result<Bool, any Error>
            do {
                answer = .success(try await condition())
            } catch {
                answer = .failure(error)
            }
            let onAnswer = state.withLock { state in
                state.answer = answer
                return state.onAnswer
            }
            onAnswer()
        }
    }

    var answer: Result<Bool, any Error>? { state.withLock(\.answer) }

    /// Has the closure called when the answer is there, at once where it is there already.
    func onAnswer(_ tell: @escaping @Sendable () -> Void) {
        let isThere = state.withLock { state in
            state.onAnswer = tell
            return state.answer != nil
        }
        if isThere { tell() }
    }

    /// Nobody waits for the answer any more.
    func end() { task.cancel() }
}
