#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A value behind a pthread mutex.
///
/// Not `Synchronization.Mutex`: the thread sanitizer doesn't see that one's lock on Linux and reports races that are none.
/// `@unchecked Sendable`: the mutex is what makes sharing the value safe; `value` is touched only while it is held.
package final class Locked<Value>: @unchecked Sendable {
    private var value: Value
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init(_ value: Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with the value while no other thread can; it must not call back into code that takes the same lock.
    ///
    /// Nor may what the user's closures hold be let go of in there, whose end may do anything: that is what ``letGo(_:)`` is for.
    package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Changes the value, and lets go of what `body` returns after the lock.
    ///
    /// Said out loud, as a result that nobody uses is let go of as early as the optimizer sees that: with the lock held.
    package func letGo<Removed>(_ body: (inout Value) -> Removed) {
        let removed = withLock(body)
        withExtendedLifetime(removed) {}
    }

    /// Sets a part of the value; what was there is let go of after the lock.
    package func set<Part>(_ part: WritableKeyPath<Value, Part>, to new: Part) {
        letGo { value in
            defer { value[keyPath: part] = new }
            return value[keyPath: part]
        }
    }
}
