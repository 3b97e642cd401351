#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A value behind a pthread mutex.
///
/// It doesn't use `Synchronization.Mutex`: the thread sanitizer doesn't see that type's lock on Linux, and reports false races.
/// `@unchecked Sendable`: the mutex makes sharing the value safe; `value` is accessed only while it is held.
package final class Locked<Value>: @unchecked Sendable {
    @exclusivity(unchecked)  // The mutex excludes other accesses.
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

    /// Calls `body` with the value while no other thread can access it. `body` must not call code that takes the same lock.
    ///
    /// Nor may `body` release anything that the user's closures hold, as a deinitializer may do anything. Use ``release(_:)`` for
    /// that.
    package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Changes the value, and releases the result of `body` once the lock is no longer held.
    ///
    /// The result is kept alive explicitly: the optimizer may release an unused result earlier, with the lock held.
    package func release<Removed>(_ body: (inout Value) -> Removed) {
        let removed = withLock(body)
        withExtendedLifetime(removed) {}
    }

    /// Sets a part of the value, and releases the previous one once the lock is no longer held.
    package func set<Part>(_ part: WritableKeyPath<Value, Part>, to new: Part) {
        release { value in
            defer { value[keyPath: part] = new }
            return value[keyPath: part]
        }
    }
}
