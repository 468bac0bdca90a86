import Dispatch
import Glibc
import Synchronization
import SystemCalls
import SystemPackage

/// A file beside the index that a build reads and writes at any position.
///
/// It is `Sendable` because its descriptor is never changed, and pread(2) and pwrite(2) have no position in common.
final class BuildFile: Sendable {
    let path: String
    private let file: FileDescriptor

    /// - Parameter isNew: true to empty the file.
    init(_ path: String, isNew: Bool) throws(OfflineIndexError) {
        self.path = path
        do {
            var options: FileDescriptor.OpenOptions = [.create, .closeOnExec, .noFollow]
            if isNew { options.insert(.truncate) }
            file = try FileDescriptor.open(
                path, .readWrite, options: options, permissions: FilePermissions(rawValue: 0o600))
        } catch {
            throw .cannotWrite(path: path, cause: OfflineIndexError.cause(error))
        }
    }

    deinit {
        do { try file.close() } catch {
            // Everything that counts was synced before; nobody can do anything about the rest.
        }
    }

    func write(_ bytes: some Collection<UInt8>, at offset: Int64) throws(OfflineIndexError) {
        do { try file.writeAll(toAbsoluteOffset: offset, bytes) } catch {
            throw .cannotWrite(path: path, cause: OfflineIndexError.cause(error))
        }
    }

    /// Reads up to `count` bytes; fewer at the end of the file.
    func read(_ count: Int, at offset: Int64) throws(OfflineIndexError) -> [UInt8] {
        do {
            return try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                while filled < count {
                    let room = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                    let read = try file.read(fromAbsoluteOffset: offset + Int64(filled), into: room)
                    if read == 0 { break }
                    filled += read
                }
            }
        } catch {
            throw .unreadable(path: path, cause: OfflineIndexError.cause(error))
        }
    }

    /// Cuts the file off, or extends it with zeros.
    func resize(to size: Int64) throws(OfflineIndexError) {
        do { try file.resize(to: size) } catch {
            throw .cannotWrite(path: path, cause: OfflineIndexError.cause(error))
        }
    }

    var size: Int64 {
        get throws(OfflineIndexError) {
            do { return try file.seek(offset: 0, from: .end) } catch {
                throw .unreadable(path: path, cause: OfflineIndexError.cause(error))
            }
        }
    }

    func sync() throws(OfflineIndexError) {
        do { try retryOnInterrupt { fsync(file.rawValue) } } catch {
            throw .cannotWrite(path: path, cause: "\(error)")
        }
    }
}

/// A work that runs on another thread.
final class Job<Output: Sendable>: Sendable {
    private let outcome = Mutex<Result<Output, any Error>?>(nil)
    private let isDone = DispatchSemaphore(value: 0)

    init(_ work: @escaping @Sendable () throws -> Output) {
        DispatchQueue.global(qos: .userInitiated).async { [self] in
            let result = Result { try work() }
            outcome.withLock { $0 = result }
            isDone.signal()
        }
    }

    /// Waits for the result.
    func value() throws -> Output {
        isDone.wait()
        isDone.signal()
        return try outcome.withLock { $0! }.get()
    }
}
