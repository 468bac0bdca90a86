import Glibc
import SystemPackage

/// An error of the system at a path.
public struct FileError: Error, Sendable, Equatable, CustomStringConvertible {
    public let path: String
    public let errno: Errno

    public init(path: String, errno: Errno) { (self.path, self.errno) = (path, errno) }

    public var description: String { "\(path): \(errno)" }
}

extension Errno {
    /// The error of the last C call of this thread.
    public static var current: Errno { Errno(rawValue: errno) }
}

/// Makes a C call, and repeats it if a signal interrupts it.
///
/// SystemPackage does this for the calls that it offers; this function is for other calls, such as ioctl().
///
/// - Returns: the error; `nil` if the call succeeded.
public func retryOnInterrupt(_ call: () -> Int32) -> Errno? {
    while call() < 0 {
        let error = Errno.current
        if error != .interrupted { return error }
    }
    return nil
}
