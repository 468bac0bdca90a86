import Foundation
import Library
import Synchronization

/// The libraries that this run has opened: at its end, one that was changed gets its backup of the day, whichever command it was.
enum OpenedLibraries {
    private struct Opened {
        let library: LibraryFile
        let backupFolder: String?
    }

    /// `nil` until a command begins: who opens a library otherwise, such as a test, has it for itself.
    private static let opened = Mutex<[Opened]?>(nil)

    static func start() { opened.withLock { $0 = [] } }

    static func keep(_ library: LibraryFile, backupFolder: String?) {
        opened.withLock { $0?.append(Opened(library: library, backupFolder: backupFolder)) }
    }

    /// Makes the backup of the day where it is missing, with a bar when it takes long. What goes wrong is told, and changes nothing
    /// of how the command ended.
    static func backUpWhatChanged() async {
        // Taken out: with its last reference a library is closed cleanly.
        let libraries = opened.withLock { opened in
            defer { opened = nil }
            return opened ?? []
        }
        // What still ends may hold the library: closed by hand, its write-ahead log is folded in. Nothing is lost when that fails: the next
        // opening reads the log.
        defer {
            for opened in libraries {
                do { try opened.library.close() } catch {
                    Output.shared.complain("the library was not closed cleanly: \(Failure.complaint(for: error))")
                }
            }
        }
        guard let changed = libraries.first(where: { $0.library.hasChanges }) else { return }
        Interrupts.giveBack()
        Interrupts.onEnd { changed.library.abandonBackups() }
        Interrupts.handle { "The backup of today was broken off; the next change makes it. What was saved is saved." }
        let bar = ProgressBar("% of today's backup", total: 100)
        defer {
            bar.finish()
            // It holds the library, which is closed with its last reference.
            Interrupts.giveBack()
        }
        do {
            let daily = try await changed.library.backUpIfDue(at: Date(), copying: changed.backupFolder) {
                bar.set(Int($0 * 100), of: 100)
            }
            if let trouble = daily?.trouble { tell(trouble) }
        } catch {
            tell(error)
        }
    }

    private static func tell(_ error: any Error) {
        Output.shared.complain("today's backup was not made: \(Failure.complaint(for: error))")
    }
}
