import Bookplate
import Synchronization

/// Reads the frames that the camera of one phone sends, as ``LiveScan`` reads those of a camera.
///
/// A phone sends single pictures, whenever the network lets it. The time between two of them counts for at most
/// ``longestStep``, so that a book that stays in view is not captured twice: neither while the connection is cut, nor
/// where it is so slow that the time of one or two blurred pictures would end a showing.
public final class PhoneScan: Sendable {
    /// Decodes a JPEG to grey levels. Returns false if it is damaged or too large.
    public typealias Decode = (UnsafeBufferPointer<UInt8>, inout Frame) -> Bool

    /// The result of one frame.
    public struct Reading: Sendable {
        /// The size of the frame, in pixels.
        public var width: Int
        public var height: Int
        /// The codes in the frame.
        public var symbols: [Symbol]
        public var hint: Hint?
        /// The books that count as shown with this frame.
        public var detections: [Detection]
        /// The other codes that count as shown with this frame.
        public var refused: [RefusedCode]
    }

    /// A code that does not belong to a book.
    public struct RefusedCode: Sendable {
        public var payload: String
        public var reason: ISBNRefusal
    }

    private struct State {
        let decode: Decode
        var follower: Follower
        var frame = Frame(width: 1, height: 1)
        /// The time of the last frame on the network's clock, and on that of the follower.
        var last: (arrived: Duration, counted: Duration)?
    }

    private let thumbnail: @Sendable (Frame, Corners) -> [UInt8]?
    private let state: Mutex<State>

    /// The longest time that counts between two frames. Three of them exceed ``Consensus/rearmTime``, and two do not: a
    /// code counts as shown again only after it was missing from at least three frames in a row.
    static let longestStep: Duration = .milliseconds(240)
    /// The largest frame, in pixels, that `decode` should accept: 1920x1080.
    public static let pixelLimit = 1920 * 1080

    /// - Parameter thumbnail: makes a small JPEG of the code's surroundings, by which a person recognises the book.
    public init(
        decoder: sending any FrameDecoder, decode: sending @escaping Decode,
        thumbnail: @escaping @Sendable (Frame, Corners) -> [UInt8]?
    ) {
        self.thumbnail = thumbnail
        state = Mutex(State(decode: decode, follower: Follower(decoder: decoder)))
    }

    /// Reads one frame. It takes a few milliseconds and blocks the thread.
    ///
    /// - Parameter time: the time of its arrival, on any clock that never goes backwards.
    /// - Returns: `nil` if the JPEG is damaged or too large.
    public func read(_ jpeg: [UInt8], at time: Duration) -> Reading? {
        state.withLock { state in
            guard jpeg.withUnsafeBufferPointer({ state.decode($0, &state.frame) }) else { return nil }
            let counted = state.last.map { $0.counted + min(max(time - $0.arrived, .zero), Self.longestStep) } ?? time
            state.last = (time, counted)
            state.frame.timestamp = counted
            state.follower.process(state.frame)
            var reading = Reading(
                width: state.frame.width, height: state.frame.height, symbols: state.follower.symbols,
                hint: state.follower.hint, detections: [], refused: [])
            for symbol in state.follower.believed {
                do throws(ISBNRefusal) {
                    reading.detections.append(
                        try Detection(showing: symbol, in: state.frame, thumbnail: thumbnail))
                } catch {
                    reading.refused.append(RefusedCode(payload: symbol.payload, reason: error))
                }
            }
            return reading
        }
    }
}
