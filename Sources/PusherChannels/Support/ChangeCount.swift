#if canImport(Darwin)
/// Counts changes of something that is guarded by a lock, for those who keep a copy of it.
///
/// On Apple platforms a lock of its own, as atomics need newer systems than the package does. It is taken last: nothing is locked while it
/// is held.
final class ChangeCount: Sendable {
    private let count = Locked(0)

    var current: Int { count.withLock { $0 } }

    func increment() {
        count.withLock { $0 += 1 }
    }
}
#else
import Synchronization

/// Counts changes of something that is guarded by a lock, for those who keep a copy of it: whether that is out of date is asked before
/// each event, too often to take the lock.
final class ChangeCount: Sendable {
    private let count = Atomic(0)

    var current: Int { count.load(ordering: .acquiring) }

    func increment() {
        count.add(1, ordering: .acquiringAndReleasing)
    }
}
#endif
