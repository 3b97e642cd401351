#if os(Linux)
import Processes
import PusherChannels

/// A list of values in order, to be inspected or waited for.
final class Record<Value: Sendable>: Sendable {
    private let values = Locked<[Value]>([])
    private let note = Note<Value>()

    /// All values so far.
    var all: [Value] { values.withLock { $0 } }

    func append(_ value: Value) {
        values.withLock { $0.append(value) }
        note.send(value)
    }

    /// Returns the next value that this hasn't returned yet; nil if the waiting task was cancelled.
    func next() async -> Value? {
        await note.next()
    }
}
/// A reference that doesn't keep its object alive.
struct Weak<Object: AnyObject> {
    weak var object: Object?
}
#endif
