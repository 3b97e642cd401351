#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Repeats a system call for as long as it is interrupted. Stopping and resuming a process, as a debugger does, ends calls that
/// wait with a time-out.
public func uninterrupted(_ call: () -> Int) -> Int {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}
