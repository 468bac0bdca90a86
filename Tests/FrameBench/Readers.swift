import Bookplate
import CTurboJPEG
import Capture
import Decoder

/// The packing of a camera's pixels.
enum Packing: String, CaseIterable {
    case mjpg = "MJPG"
    case yuyv = "YUYV"
}

struct BenchError: Error {
    var what: String
}

/// One frame as a camera's driver stores it in memory.
struct Buffer {
    let packing: Packing
    let bytes: [UInt8]
    let width: Int
    let height: Int

    init(jpeg: [UInt8], packing: Packing) throws {
        guard let decoder = JPEGFrameDecoder() else { throw BenchError(what: "no JPEG decoder") }
        var frame = Frame(width: 1, height: 1)
        guard jpeg.withUnsafeBufferPointer({ decoder.decode($0, into: &frame) }) else {
            throw BenchError(what: "a frame of the recording is damaged")
        }
        (self.packing, width, height) = (packing, frame.width, frame.height)
        // The colour is grey; it is never read.
        bytes = packing == .mjpg ? jpeg : frame.luma.flatMap { [$0, 128] }
    }

    /// Copies every second byte; the same code for both decoders.
    @inline(__always)
    func copyLuma(to luma: UnsafeMutableBufferPointer<UInt8>) {
        bytes.withUnsafeBufferPointer { bytes in
            guard let from = bytes.baseAddress, let to = luma.baseAddress else { return }
            for at in 0..<(width * height) { to[at] = from[2 &* at] }
        }
    }
}

/// Our decoder: JPEGFrameDecoder and FrameReader.
struct Ours {
    private let jpeg: JPEGFrameDecoder
    private var reader: FrameReader
    private var frame = Frame(width: 1, height: 1)
    private var reading = FrameResult()

    init() throws {
        guard let jpeg = JPEGFrameDecoder() else { throw BenchError(what: "no JPEG decoder") }
        (self.jpeg, reader) = (jpeg, try FrameReader())
    }

    mutating func read(_ buffer: Buffer, at time: Duration) throws -> [String] {
        switch buffer.packing {
        case .mjpg:
            guard buffer.bytes.withUnsafeBufferPointer({ jpeg.decode($0, into: &frame) }) else {
                throw BenchError(what: "a frame of the recording is damaged")
            }
        case .yuyv:
            frame.resize(width: buffer.width, height: buffer.height)
            frame.withMutableLuma { buffer.copyLuma(to: $0) }
        }
        frame.timestamp = time
        reader.read(frame, into: &reading)
        return reading.symbols.map(\.payload)
    }
}
