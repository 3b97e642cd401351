import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A thread of the system.
///
/// Foundation's `Thread` doesn't report that the system has none to give, and is used for the name only. libdispatch makes its
/// caller wait then, and ends a process that has no descriptor left when it needs one.
enum SystemThread {
    /// A function that starts a thread with a name.
    typealias Starter = @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) -> Void

    /// Runs `body` on a thread with a name, of which Linux keeps 15 bytes. Throws if there can't be another thread.
    @Sendable static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let work = Unmanaged.passRetained(Work(name: name, body: body))
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let error = pthread_create(&thread, nil, { SystemThread.run($0) }, work.toOpaque())
        guard error == 0 else {
            work.release()  // not a mutant: no test is refused a thread
            throw SystemError(number: error)
        }
    }

    private final class Work: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    private static func run(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        // Nobody joins this thread.
        pthread_detach(pthread_self())
        guard let work else { return nil }
        let taken = Unmanaged<Work>.fromOpaque(work).takeRetainedValue()
        Thread.current.name = taken.name
        taken.body()
        return nil
    }
}
