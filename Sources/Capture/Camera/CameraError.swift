import Glibc

/// What the camera's driver, or the way to it, refuses.
enum CameraError: Error, Equatable {
    /// A call failed; the name is that of the ioctl or function.
    case failed(String, errno: Int32)
    /// libv4l2 is not installed, with the loader's words.
    case libraryMissing(String)
    /// The driver gives what is not read here: why.
    case unusable(String)
    /// No new frame for so long, though the camera is there.
    case silent(Duration)
}

extension CameraError: CustomStringConvertible {
    var description: String {
        switch self {
        case .failed(let call, let code): "\(call): \(String(cString: strerror(code))) (errno \(code))"
        case .libraryMissing(let cause): "libv4l2 is missing (\(cause))"
        case .unusable(let reason): reason
        case .silent(let time): "no new frame for \(time.components.seconds) s"
        }
    }

    /// The camera was pulled out: the node is gone, or the driver let go of the device.
    var isGone: Bool {
        guard case .failed(_, let code) = self else { return false }
        return [ENODEV, ENXIO, ENOENT].contains(code)
    }
    var isBusy: Bool {
        if case .failed(_, EBUSY) = self { true } else { false }
    }
    var isUnusable: Bool {
        if case .unusable = self { true } else { false }
    }
    var isDenied: Bool {
        guard case .failed("open", let code) = self else { return false }
        return code == EACCES || code == EPERM
    }
}
