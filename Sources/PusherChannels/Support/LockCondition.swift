#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Something that happens to a value behind a lock, for which threads wait: POSIX's condition variable, by a clock that nobody sets. It lies in
/// the value.
///
/// Not `DispatchSemaphore`: on Linux that waits by the wall clock, and goes on an hour late if somebody puts that back by an hour.
final class LockCondition {
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    init() {
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        #if canImport(Darwin)
        pthread_cond_init(condition, nil)
        #else
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
    }

    /// It has happened: one of those that wait looks at the value again.
    func signal() {
        pthread_cond_signal(condition)
    }

    /// Waits, at most so long; the mutex is given up meanwhile.
    func wait(_ mutex: UnsafeMutablePointer<pthread_mutex_t>, atMost time: Duration?) {
        guard let time else {
            pthread_cond_wait(condition, mutex)
            return
        }
        var (seconds, attoseconds) = max(time, .zero).components
        #if canImport(Darwin)
        var length = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        pthread_cond_timedwait_relative_np(condition, mutex, &length)
        #else
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        seconds += Int64(end.tv_sec)
        attoseconds += Int64(end.tv_nsec) * 1_000_000_000
        if attoseconds >= 1_000_000_000_000_000_000 {
            seconds += 1
            attoseconds -= 1_000_000_000_000_000_000
        }
        end.tv_sec = time_t(seconds)
        end.tv_nsec = Int(attoseconds / 1_000_000_000)
        pthread_cond_timedwait(condition, mutex, &end)
        #endif
    }
}
