#if canImport(Darwin)
/// A count of the changes to something that is guarded by a lock, for code that keeps a copy of it.
///
/// On Apple platforms, it has its own lock, as atomics need newer systems than the package does. That lock is taken last: nothing
/// else is locked while it is held.
final class ChangeCount: Sendable {
    private let count = Locked(0)

    var current: Int { count.withLock { $0 } }

    func increment() {
        count.withLock { $0 += 1 }
    }
}
#else
import Synchronization

/// A count of the changes to something that is guarded by a lock, for code that keeps a copy of it. It is checked before each
/// event, which is too often to take the lock.
final class ChangeCount: Sendable {
    private let count = Atomic(0)

    var current: Int { count.load(ordering: .acquiring) }

    func increment() {
        count.add(1, ordering: .acquiringAndReleasing)
    }
}
#endif
