import CTurboJPEG
import ZBarPeer

/// The decoder of other programs: libjpeg-turbo to grey, and zbar's own image scanner from its shared library.
struct Peer {
    private let jpeg: tjhandle
    private let zbar: ZBarPeer
    private var luma: [UInt8] = []

    init() throws {
        zbar = try ZBarPeer()
        guard let jpeg = tjInitDecompress() else { throw BenchError(what: "the peer does not start") }
        self.jpeg = jpeg
    }

    mutating func read(_ buffer: Buffer) throws -> [String] {
        let (width, height) = (buffer.width, buffer.height)
        if luma.count != width * height { luma = [UInt8](repeating: 0, count: width * height) }
        let (jpeg, zbar) = (jpeg, zbar)
        return try luma.withUnsafeMutableBufferPointer { luma in
            switch buffer.packing {
            case .mjpg:
                let status = buffer.bytes.withUnsafeBufferPointer {
                    tjDecompress2(
                        jpeg, $0.baseAddress, UInt($0.count), luma.baseAddress, Int32(width), Int32(width),
                        Int32(height),
                        Int32(TJPF_GRAY.rawValue), 0)
                }
                guard status == 0 else { throw BenchError(what: "a frame of the recording is damaged") }
            case .yuyv:
                buffer.copyLuma(to: luma)
            }
            return try zbar.read(UnsafeBufferPointer(luma), width: width, height: height)
        }
    }
}
