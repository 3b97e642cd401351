import PusherChannels

/// The value that a closure `() -> Value` returns to the code under test: a default, or what the test specifies.
///
/// ```swift
/// environment.calendar.next = Calendar(identifier: .buddhist)
/// environment.now.sequence([start, end])
/// environment.locale.unimplemented()
/// ```
///
/// All members may be called from any thread.
public final class MockValue<Value: Sendable>: Sendable {
    private typealias Make = @Sendable () -> Value

    private enum Source {
        case make(Make)
        case sequence([Value], given: Int)
        case unimplemented
    }

    private struct State {
        var source: Source
        var reads: [Value] = []

        /// Returns a closure that makes the next value, `nil` for the default, and a description of the misuse if there is one.
        mutating func takeNext() -> (make: Make?, misuse: String?) {
            switch source {
            case .make(let make):
                return (make, nil)
            case .unimplemented:
                return (nil, ", but is unimplemented")
            case .sequence(let values, let given):
                source = .sequence(values, given: given + 1)
                if given < values.count { return ({ values[given] }, nil) }
                let times = given == 0 ? "once" : "\(given + 1) times"
                let misuse = " \(times), but its sequence has \(values.count) \(values.count == 1 ? "value" : "values")"
                guard let last = values.last else { return (nil, misuse) }
                return ({ last }, misuse)
            }
        }
    }

    /// The name of the mock in issues.
    public let name: String
    private let makeDefault: @Sendable () -> Value
    private let issues: IssueLog
    private let state: Locked<State>

    init(_ name: String, issues: IssueLog, default makeDefault: @escaping @Sendable () -> Value) {
        self.name = name
        self.makeDefault = makeDefault
        self.issues = issues
        state = Locked(State(source: .make(makeDefault)))
    }

    // MARK: Reading

    /// Reads the value. Reading an unimplemented value, or past the end of a sequence, is recorded in ``TestEnvironment/issues``
    /// but returns a value all the same.
    public func callAsFunction() -> Value {
        let value = read()
        state.withLock { $0.reads.append(value) }
        return value
    }

    /// This mock as a closure, for a struct of closures.
    public var function: @Sendable () -> Value {
        { [self] in self() }
    }

    /// The values that were read, in order.
    public var reads: [Value] { state.withLock { $0.reads } }

    // MARK: Settings

    /// The value of every later read. Getting this property doesn't count as a read.
    public var next: Value {
        get {
            switch state.withLock({ $0.source }) {
            case .make(let make): make()
            case .sequence(let values, let given): values.dropFirst(given).first ?? values.last ?? makeDefault()
            case .unimplemented: makeDefault()
            }
        }
        set { make { newValue } }
    }

    /// The current value, for a test double that works beside the code under test; in a sequence, the value that was read last.
    /// Getting this property doesn't count as a read.
    var current: Value {
        guard case .sequence(let values, let given) = state.withLock({ $0.source }), given > 0 else { return next }
        return values.prefix(given).last ?? next
    }

    /// Makes a new value for every later read, for objects that are configured by their readers.
    public func make(_ make: @escaping @Sendable () -> Value) {
        use(.make(make))
    }

    /// Returns the values one after the other; reading past the last value returns it again and is an issue.
    public func sequence(_ values: [Value]) {
        use(.sequence(values, given: 0))
    }

    /// Makes every later read an issue, because the code under test isn't supposed to use this value. A read returns the default.
    public func unimplemented() {
        use(.unimplemented)
    }

    /// Returns to the default.
    public func reset() {
        use(.make(makeDefault))
    }

    /// Sets another value while `body` runs.
    func with<Result, Failure: Error>(_ value: Value, _ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let before = state.withLock { $0.source }
        next = value
        defer { use(before) }
        return try body()
    }

    private func use(_ source: Source) {
        state.set(\.source, to: source)
    }

    private func read() -> Value {
        // Make the value outside the lock, because the closure may read other mocks and even this one.
        let (make, misuse) = state.withLock { $0.takeNext() }
        if let misuse { issues.record("\(name) was used\(misuse)") }
        return (make ?? makeDefault)()
    }
}
