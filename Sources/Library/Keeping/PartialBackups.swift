import Glibc
import Synchronization

/// The copies that are being made, by the instance that makes them: nobody else's to remove.
private let partials = Mutex<[String: Set<String>]>([:])

extension LibraryFile {
    /// Removes what unfinished backups of this instance have written: for a program that is about to be ended by a signal. A
    /// backup that goes on after it fails.
    public func abandonBackups() { partials.withLock { $0[holder]?.forEach(removeDatabase) } }

    func beginPartial(_ path: String) { partials.withLock { _ = $0[holder, default: []].insert(path) } }

    func endPartial(_ path: String) {
        partials.withLock { partials in
            partials[holder]?.remove(path)
            if partials[holder]?.isEmpty == true { partials[holder] = nil }
        }
    }
}
