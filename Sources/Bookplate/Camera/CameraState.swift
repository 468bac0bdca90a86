/// How a source of frames stands, for the screen.
public enum CameraState: Sendable, Equatable {
    /// Looking for a camera, or making it ready.
    case starting
    /// - Parameter name: as the driver calls the camera, or what stands for a stream.
    case streaming(name: String, format: CaptureFormat)
    /// Nothing comes, and it is tried again by itself.
    case trouble(CameraError)
    /// A stream is over, or the source was stopped. Nothing will come any more.
    case ended
}

/// Why no frames come. Told once, when it begins.
public struct CameraError: Sendable, Equatable, CustomStringConvertible {
    public enum Kind: String, Sendable, CaseIterable {
        /// None is connected.
        case noCamera
        /// It was there and is gone.
        case unplugged
        /// Another program has it.
        case busy
        /// The account may not open it.
        case denied
        /// None of its formats is read here.
        case unusable
        /// It is there and says nothing, or shows the same picture for ten seconds.
        case frozen
        /// The driver reports errors.
        case failing
        /// The thread that waits for frames does not come back from the driver.
        case stuck
        /// What came on standard input are no frames.
        case noFrames
    }

    public var kind: Kind
    /// What, where, what next; whole sentences.
    public var description: String

    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
