import Glibc

/// One build at a time: an flock on the unfinished file, which is emptied when the lock is had. A build that was killed leaves the file
/// but not the lock.
struct BuildLock {
    private let descriptor: Int32

    init(_ unfinished: String, for path: String) throws(OfflineIndexError) {
        descriptor = open(unfinished, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { throw .cannotWrite(path: path, cause: OfflineIndexError.systemCause) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .alreadyBuilding(path: path)
        }
        guard ftruncate(descriptor, 0) == 0 else {
            let cause = OfflineIndexError.systemCause
            close(descriptor)
            throw .cannotWrite(path: path, cause: cause)
        }
    }

    func release() { close(descriptor) }
}
