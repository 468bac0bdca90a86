import CV4L2
import Glibc

/// libv4l2, opened with the first camera and never closed.
///
/// `@unchecked Sendable` holds: the table is written once, before it is published by the `static let`, and only read after that.
struct V4L2Library: @unchecked Sendable {
    let table: UnsafePointer<cv4l2>

    /// The library, or why it cannot be used.
    static let shared: Result<V4L2Library, CameraError> = {
        let table = UnsafeMutablePointer<cv4l2>.allocate(capacity: 1)
        table.initialize(to: cv4l2())
        if let missing = cv4l2_open(table) {
            let cause = String(cString: missing)
            table.deallocate()
            return .failure(.libraryMissing(cause))
        }
        return .success(V4L2Library(table: table))
    }()
}

/// An open V4L2 node, closed when its owner goes.
struct NodeDescriptor: ~Copyable {
    let library: V4L2Library
    /// -1 once it is closed.
    private(set) var value: Int32

    /// Opens without blocking, and not for programs that are started from here.
    static func open(_ path: String) throws(CameraError) -> NodeDescriptor {
        let library = try V4L2Library.shared.get()
        let value = cv4l2_open_node(path)
        if value < 0 { throw .failed("open", errno: errno) }
        return NodeDescriptor(library: library, value: value)
    }

    private init(library: V4L2Library, value: Int32) { (self.library, self.value) = (library, value) }

    deinit { if value >= 0 { _ = library.table.pointee.close(value) } }

    mutating func close() {
        // The kernel releases the number whatever close() answers.
        if value >= 0 { _ = library.table.pointee.close(value) }
        value = -1
    }

    /// Lets libv4l2 take part. Without conversion it only checks; with it, it lists and makes formats that the camera has not.
    func adopt(converting: Bool) throws(CameraError) {
        if library.table.pointee.fd_open(value, converting ? 0 : V4L2_DISABLE_CONVERSION) < 0 {
            throw .failed("v4l2_fd_open", errno: errno)
        }
    }

    /// One request to the driver. The function of libv4l2 is v4l2_ioctl(), which hands on what it has no part in.
    func request<Argument>(_ request: UInt, _ name: StaticString, _ argument: inout Argument) throws(CameraError) {
        let code = withUnsafeMutablePointer(to: &argument) { argument in
            retryingOnInterrupt { cv4l2_ioctl(library.table, value, request, argument) }
        }
        if let code { throw .failed(name.description, errno: code) }
    }
}

/// The one way to the kernel: calls until no signal comes in between.
///
/// - Returns: the errno, `nil` when it went well.
func retryingOnInterrupt(_ call: () -> Int32) -> Int32? {
    while call() < 0 {
        let code = errno
        if code != EINTR { return code }
    }
    return nil
}
