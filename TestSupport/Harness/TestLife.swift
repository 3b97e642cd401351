import PusherChannels

/// The life of a harness: it begins with the first use, and ends with the test. What uses the harness afterward has outlived it.
final class TestLife: Sendable {
    private struct State {
        /// Is called once, by the first use.
        var onBegin: (@Sendable () -> Void)?
        /// Is called with each use after the end.
        var onLate: (@Sendable (_ what: String) -> Void)?
    }

    private let state = Locked(State())

    /// Sets what begins with the first use.
    func onBegin(_ begin: @escaping @Sendable () -> Void) { state.withLock { $0.onBegin = begin } }

    /// Begins the life, once.
    func begin() { state.withLock { $0.onBegin.take() }?() }

    /// Ends the life: calls the closure with each later use.
    func end(_ tell: @escaping @Sendable (_ what: String) -> Void) { state.withLock { $0 = State(onLate: tell) } }

    /// Indicates whether the test has ended.
    var isOver: Bool { state.withLock { $0.onLate != nil } }

    /// Begins the life with the first use, and tells a use after the end.
    ///
    /// - Parameter what: The use with its place; `nil` for what may come a little later than the end, such as the end of a connection.
    func use(_ what: () -> String?) {
        // Under one lock, because every event of a test is a use.
        let (begin, tell) = state.withLock { ($0.onBegin.take(), $0.onLate) }
        begin?()
        if let tell, let what = what() { tell(what) }
    }
}
