import CV4L2
import Glibc

/// The driver's buffers in this process's memory, unmapped when their owner goes.
struct MappedBuffers: ~Copyable {
    private let library: V4L2Library
    private var areas: [UnsafeMutableRawBufferPointer] = []

    init(library: V4L2Library) { self.library = library }

    deinit {
        for area in areas { _ = library.table.pointee.munmap(area.baseAddress, area.count) }
    }

    var lengths: [Int] { areas.map(\.count) }

    /// Maps one more, for reading and writing as libv4l2 asks. The function of libv4l2 is v4l2_mmap().
    mutating func map(_ descriptor: Int32, length: Int, offset: Int64) throws(CameraError) {
        let address = library.table.pointee.mmap(
            nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, offset)
        guard let address, address != MAP_FAILED else { throw .failed("mmap", errno: errno) }
        areas.append(UnsafeMutableRawBufferPointer(start: address, count: length))
    }

    func withBytes<Result>(of index: Int, count: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let area = areas[index]
        precondition(count <= area.count)
        return body(UnsafeBufferPointer(start: area.baseAddress!.assumingMemoryBound(to: UInt8.self), count: count))
    }
}
