#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Calls the system again as long as it was only interrupted: whoever stops a process and has it go on, such as a debugger, ends calls
/// that wait with a time-out.
public func uninterrupted(_ call: () -> Int) -> Int {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}
