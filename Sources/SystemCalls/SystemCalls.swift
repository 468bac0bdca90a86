import Glibc
import SystemPackage

extension Errno {
    /// The error of the last C call of this thread.
    public static var current: Errno { Errno(rawValue: errno) }
}

/// Makes a C call, and repeats it if a signal interrupts it.
///
/// SystemPackage does this for the calls that it offers; this function is for other calls, such as ioctl() and
/// waitpid().
///
/// - Returns: the call's result, which is not negative.
/// - Throws: the error of the call.
@discardableResult
public func retryOnInterrupt<Result: FixedWidthInteger>(_ call: () -> Result) throws(Errno) -> Result {
    while true {
        let result = call()
        if result >= 0 { return result }
        let error = Errno.current
        if error != .interrupted { throw error }
    }
}

/// Waits until a descriptor is ready, and continues to wait if a signal interrupts it.
///
/// - Parameters:
///   - descriptors: the descriptors to wait for, and afterwards their state; see poll(2).
///   - deadline: the time at which the wait ends; nil to wait without a limit.
/// - Returns: true if a descriptor is ready, false if the time is up.
public func poll(
    _ descriptors: inout [pollfd], until deadline: ContinuousClock.Instant? = nil
) throws(Errno) -> Bool {
    while true {
        let left = deadline.map { max(.zero, $0 - .now) / .milliseconds(1) }
        // Wait at most 12 days at a time, because poll() accepts no more than 24.
        let milliseconds = left.map { Int32(min($0.rounded(.up), 1e9)) } ?? -1
        let count = Glibc.poll(&descriptors, nfds_t(descriptors.count), milliseconds)
        if count >= 0 { return count > 0 }
        let error = Errno.current
        if error != .interrupted { throw error }
    }
}
