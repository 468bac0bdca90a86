/// The state of a frame source, for the screen.
public enum CameraState: Sendable, Equatable {
    /// The source is looking for a camera, or is preparing one.
    case starting
    /// - Parameter name: the camera's name from its driver, or "standard input" for a stream.
    case streaming(name: String, format: CaptureFormat)
    /// No frames arrive; the source retries automatically.
    case failed(CameraError)
    /// The stream has ended, or the source was stopped. No more frames will arrive.
    case ended
}

/// The reason why no frames arrive. It is reported once, when frames stop arriving.
public struct CameraError: Sendable, Equatable, CustomStringConvertible {
    public enum Kind: String, Sendable, CaseIterable {
        /// No camera is connected.
        case noCamera
        /// The camera was connected, but has been removed.
        case unplugged
        /// Another program is using the camera.
        case busy
        /// The account has no permission to open the camera.
        case denied
        /// None of the camera's formats is supported.
        case unusable
        /// The camera is connected but sends nothing, or has sent the same picture for ten seconds.
        case frozen
        /// The driver reports errors.
        case failing
        /// The capture thread is stuck in the driver: a call into it does not return.
        case stuck
        /// Standard input does not contain frames.
        case noFrames
    }

    public var kind: Kind
    /// The text for people, in whole sentences: what happened, where, and what to do.
    public var description: String

    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}

/// An event of a handheld scanner.
public enum ScannerEvent: Sendable, Equatable {
    /// A scanned line, without its Enter.
    case line(String)
    /// The scanner cannot be used now, or a line was lost. The scanner is tried again automatically. The message says
    /// what happened, where, and what to do, and is sent once.
    case failed(String)
    /// The scanner is ready, or ready again.
    case ready(name: String)
}
